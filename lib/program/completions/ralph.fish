# fish completion for ralph
function __ralph_words
    set -l words (commandline -opc)
    set -l current (commandline -ct | string unescape)
    set -l flag (string match -r -- '^--[^=]+=' $current)
    for line in ($words[1] --complete "=$current" $words[2..-1] 2>/dev/null)
        switch $line
            case \tfiles
                __fish_complete_path (string replace -- "$flag" '' $current)
            case \tfolders
                __fish_complete_directories (string replace -- "$flag" '' $current)
            case '-*'
                string match -q -- '-*' $current; and echo $line
            case '*'
                echo "$flag$line"
        end
    end
end
complete -c ralph -f -a '(__ralph_words)'
