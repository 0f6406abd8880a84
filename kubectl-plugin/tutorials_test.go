package kubectlplugin

import (
	"strings"
	"testing"

	"koordinator.sh/koord/messages"
)

// TestEveryWordOfATutorialIsKnownInChinese, as far as it is known before the tutorial runs.
func TestEveryWordOfATutorialIsKnownInChinese(t *testing.T) {
	for _, tutorial := range tutorials() {
		of := tutorial()
		texts := []string{of.Title, of.Short, of.Intro}
		for _, step := range of.Steps {
			texts = append(texts, step.Title, step.Text)
		}
		for _, text := range texts {
			for paragraph := range strings.SplitSeq(text, "\n\n") {
				english := strings.Join(strings.Fields(paragraph), " ")
				if messages.Chinese.Text(english) == english {
					t.Errorf("no Chinese for %q of tutorial %s", english, of.Name)
				}
			}
		}
	}
}
