package spark

import (
	"strings"
	"testing"

	"koordinator.sh/koord/messages"
)

// TestEveryWordOfTheTutorialIsKnownInChinese, as far as it is known before the tutorial runs.
func TestEveryWordOfTheTutorialIsKnownInChinese(t *testing.T) {
	of := New()
	texts := []string{of.Title, of.Short, of.Intro}
	for _, step := range of.Steps {
		texts = append(texts, step.Title, step.Text)
	}
	for _, text := range texts {
		for paragraph := range strings.SplitSeq(text, "\n\n") {
			english := strings.Join(strings.Fields(paragraph), " ")
			if messages.Chinese.Text(english) == english {
				t.Errorf("no Chinese for %q", english)
			}
		}
	}
}
