package kubectlplugin

import "koordinator.sh/koord/messages"

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
