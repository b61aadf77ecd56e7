import type { CompletionModel, Offer } from "./model.ts";

/** The completion script for PowerShell, 5.1 and later. Paths are its own default. Pure. */
export function powershellScript({ commands, values }: CompletionModel): string {
  return `# PowerShell completion for ralph, written by \`ralph completions powershell\`
Register-ArgumentCompleter -Native -CommandName ralph -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $commands = [ordered]@{
${
    commands.map(({ name, summary, argument, flags }) =>
      `    ${quoted(name)} = @{ Summary = ${quoted(summary)}; Words = ${list(argument)}; Flags = [ordered]@{ ${
        flags.map((flag) => `${quoted(`--${flag.name}`)} = ${quoted(flag.summary)}`).join("; ")
      } } }`
    ).join("\n")
  }
  }
  $values = @{
${values.map((flag) => `    ${quoted(`--${flag.name}`)} = ${list(flag)}`).join("\n")}
  }
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
  $command = $null
  for ($index = 0; $index -lt $words.Count; $index++) {
    if ($values.ContainsKey($words[$index])) { $index++ }
    elseif (-not $words[$index].StartsWith('-')) { $command = $words[$index]; break }
  }
  $offered = [ordered]@{}
  if ($words.Count -gt 0 -and $values.ContainsKey($words[-1])) {
    foreach ($word in $values[$words[-1]]) { $offered[$word] = $word }
  } elseif ($null -eq $command) {
    foreach ($name in $commands.Keys) { $offered[$name] = $commands[$name].Summary }
    $offered['--help'] = 'show the commands'
    $offered['--version'] = 'show the version'
  } elseif ($commands.Contains($command)) {
    if ($wordToComplete.StartsWith('-')) { $offered = $commands[$command].Flags }
    else { foreach ($word in $commands[$command].Words) { $offered[$word] = $word } }
  }
  $offered.GetEnumerator() | Where-Object { $_.Key.StartsWith($wordToComplete) } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_.Key, $_.Key, 'ParameterValue', $_.Value)
  }
}
`;
}

function list({ words }: Offer): string {
  return `@(${words.map(quoted).join(", ")})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
