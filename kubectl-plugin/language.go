package kubectlplugin

import (
	"strings"

	"koordinator.sh/koord/kubectl-plugin/printer"
)

// language of the reader, by KOORD_LANG or else by the locale. Chinese is not chosen where it cannot be drawn.
func (s *session) language() printer.Language {
	if s.style().ASCII {
		return printer.English
	}
	for _, name := range []string{"KOORD_LANG", "LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := s.Getenv(name); value != "" {
			if strings.HasPrefix(value, string(printer.Chinese)) {
				return printer.Chinese
			}
			return printer.English
		}
	}
	return printer.English
}
