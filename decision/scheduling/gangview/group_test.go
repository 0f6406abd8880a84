package gangview

import (
	"strings"
	"testing"

	"koordinator.sh/koord/decision/scheduling/gang"
)

// TestGangsThatStartTogether are kept with one that is asked for, and follow each other.
func TestGangsThatStartTogether(t *testing.T) {
	key := func(name string) gang.Key { return gang.Key{Namespace: "ml", Name: name} }
	group := func(name, id string) Gang { return Gang{Key: key(name), Spec: &gang.Spec{GroupID: id}} }
	all := []Gang{group("a", "ml/a"), group("b", "ml/b,ml/z"), {Key: key("c")}, group("y", "ml/y"), group("z", "ml/b,ml/z")}
	for name, tc := range map[string]struct {
		selected func(*Gang) bool
		want     string
	}{
		"all, the gangs of a group one after the other": {func(*Gang) bool { return true }, "a b z c y"},
		"one and its group":                             {func(g *Gang) bool { return g.Name == "b" }, "b z"},
		"one that starts alone":                         {func(g *Gang) bool { return g.Name == "y" }, "y"},
		"one without rules":                             {func(g *Gang) bool { return g.Name == "c" }, "c"},
		"none":                                          {func(*Gang) bool { return false }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, g := range Together(all, tc.selected) {
				got = append(got, g.Name)
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
