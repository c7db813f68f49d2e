// A command as it is run: program and arguments as separate words, never a shell line. Quotes only show where a word ends.

export interface CommandLine {
  words: { text: string; isQuoted: boolean; isValue: boolean; isProgram: boolean }[];
}

const PLAIN = /^[\p{L}\p{N}_@%+=:,./~^-]+$/u;

/** Lines of a command: on one line when short, otherwise the program with its sub-commands, then one option with its value a line. */
export function commandLines(program: string, args: readonly string[], most = 72): CommandLine[] {
  const word = (text: string, isProgram = false, isValue = false) => ({ text, isQuoted: text === "" || !PLAIN.test(text), isValue, isProgram });
  const all = [
    word(program, true),
    ...args.map((text, index) => word(text, false, index > 0 && (args[index - 1] ?? "").startsWith("-") && !text.startsWith("-"))),
  ];
  const length = all.reduce((sum, one) => sum + one.text.length + (one.isQuoted ? 3 : 1), 0);
  if (length <= most && all.every((one) => !one.text.includes("\n"))) return [{ words: all }];
  const lines: CommandLine[] = [{ words: [] }];
  for (const one of all) {
    const line = lines.at(-1);
    const isOption = one.text.startsWith("-");
    const isLong = one.text.length > 60 || one.text.includes("\n");
    if (line && line.words.length > 0 && (isOption || (isLong && !one.isValue) || (lines.length > 1 && !one.isValue))) lines.push({ words: [one] });
    else line?.words.push(one);
  }
  return lines;
}
