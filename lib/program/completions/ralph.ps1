# PowerShell completion for ralph, 5.1 and later; paths are its own default
Register-ArgumentCompleter -Native -CommandName ralph -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
    ForEach-Object { $_.Extent.Text })
  $flag = if ($wordToComplete -match '^--[^=]+=') { $Matches[0] } else { '' }
  $before = @($words | Select-Object -Skip 1)
  & $words[0] --complete "=$wordToComplete" @before 2>$null | ForEach-Object {
    $word, $summary = $_ -split "`t", 2
    if ($word -and "$flag$word".StartsWith($wordToComplete)) {
      $meaning = if ($summary) { $summary } else { $word }
      [System.Management.Automation.CompletionResult]::new("$flag$word", $word, 'ParameterValue', $meaning)
    }
  }
}
