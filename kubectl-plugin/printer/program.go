package printer

import "regexp"

// canonicalProgram is the program's name in every text that comes from below the commands: hints of findings and errors,
// answers of the diagnostics API, the catalogue. They are made where it is not known how the program was called, and have to
// be true also in -o json.
const canonicalProgram = "koordctl"

// command is the program's name where a command begins: at the start of a text, of a line or of a sentence, or in
// backquotes. In running prose, as in "beside koordctl", it names the file.
var command = regexp.MustCompile("(^|[`\n;:|&(；：（]\\s*)" + canonicalProgram + "( |`|$)")

// Called rewrites the commands in a text for the name the program was called by, such as kubectl koord, so that they can be
// pasted. Whatever prints a hint for a person passes it through; an empty name changes nothing.
func Called(program, text string) string {
	if program == "" || program == canonicalProgram {
		return text
	}
	return command.ReplaceAllString(text, "${1}"+program+"${2}")
}
