package kubectlplugin

import (
	"fmt"

	"koordinator.sh/koord/messages"
)

// language of the reader, by KOORD_LANG or else by the locale. Chinese is not chosen where it cannot be drawn.
func (s *session) language() messages.Language {
	if s.style().ASCII {
		return messages.English
	}
	return messages.Chosen(s.Getenv)
}

// say is a text for standard error, in the language of the reader.
func (s *session) say(english string) string {
	return s.errorStyle().Clean(s.language().Text(english))
}

// tell narrates on standard error, a line at a time. Its error is forgotten.
func (s *session) tell(format string, args ...any) {
	fmt.Fprintln(s.Streams.ErrOut, s.say(fmt.Sprintf(format, args...)))
}

// report says on standard output what was done, and forgets its error.
func (s *session) report(format string, args ...any) {
	fmt.Fprintln(s.Streams.Out, s.style().Clean(s.language().Text(fmt.Sprintf(format, args...))))
}
