package check

import (
	"testing"

	"koordinator.sh/koord/messages"
)

func TestEveryCheckIsTranslated(t *testing.T) {
	for _, c := range All() {
		if messages.Chinese.Text(c.Title) == c.Title {
			t.Errorf("check %s has no Chinese: %q", c.ID, c.Title)
		}
	}
	for _, name := range CategoryNames() {
		if messages.Chinese.Text(name) == name {
			t.Errorf("category %s has no Chinese", name)
		}
	}
}
