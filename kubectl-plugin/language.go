package kubectlplugin

import "koordinator.sh/koord/messages"

// language of the reader, by KOORD_LANG or else by the locale. Chinese is not chosen where it cannot be drawn.
func (s *session) language() messages.Language {
	if s.style().ASCII {
		return messages.English
	}
	return messages.Chosen(s.Getenv)
}
