package messages

import "strings"

// Language that people read.
type Language string

const (
	// English is the default.
	English Language = "en"
	// Chinese is 简体中文.
	Chinese Language = "zh"
)

// Chosen is the language that the environment asks for: KOORD_LANG, or else the locale.
func Chosen(getenv func(string) string) Language {
	for _, name := range []string{"KOORD_LANG", "LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			if strings.HasPrefix(value, string(Chinese)) {
				return Chinese
			}
			return English
		}
	}
	return English
}

// Text is the text in the language: that of the entry that is equal to it, or of the format that it was made by. A text that has no entry
// is divided at semicolons, and its parts are looked for. What the catalogue does not know stays as it is.
func (l Language) Text(english string) string {
	if l != Chinese || english == "" {
		return english
	}
	translated, _ := chinese().translate(english)
	return translated
}
