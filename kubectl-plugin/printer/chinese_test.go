package printer

import (
	"bytes"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"koordinator.sh/koord/api/configuration"
	documentation "koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/messages"
)

func TestMainAnswersInChinese(t *testing.T) {
	all := views(t)
	maps.Copy(all, configViews())
	for _, name := range []string{
		"explain-pod-pending", "explain-pod-bound", "explain-pod-hinted", "explain-node", "explain-quota", "explain-gang", "explain-eviction", "explain-migration",
		"agent-evictions", "top-nodes", "top-quotas", "status", "whatif-drain", "placement", "explain-job-queued", "explain-job-waiting",
		"config-findings", "config-plan", "config-plan-unknown", "config-plan-nothing", "config-history", "config-field", "config-get",
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := all[name](&out, Options{Width: 120, Language: messages.Chinese, Now: fixtureNow}); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "chinese", name+".txt"), out.String())
		})
	}
}

// TestEveryFieldOfTheConfigurationIsExplainedInChinese: what it does, its kind and what it allows.
func TestEveryFieldOfTheConfigurationIsExplainedInChinese(t *testing.T) {
	for _, key := range configuration.Keys() {
		fields, err := documentation.Explain(documentation.KeyPath{Key: key})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			for _, english := range []string{f.Description, f.Kind, f.Range} {
				if english != "" && messages.Chinese.Text(english) == english {
					t.Errorf("%s.%s has no Chinese: %q", key, f.Path, english)
				}
			}
		}
	}
}

// TestNoChineseLineIsWiderThanTheTerminal: a Chinese character takes two columns.
func TestNoChineseLineIsWiderThanTheTerminal(t *testing.T) {
	for name, show := range views(t) {
		if strings.HasSuffix(name, "wide") || strings.HasSuffix(name, "-zh") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for width := 60; width <= 200; width++ {
				var out bytes.Buffer
				if err := show(&out, Options{Width: width, Language: messages.Chinese, Now: fixtureNow}); err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(out.String()) {
					if got := ansi.StringWidth(strings.TrimSuffix(line, "\n")); got > width && !copyable(line) {
						t.Fatalf("a line of %d columns on a terminal of %d: %q", got, width, line)
					}
				}
			}
		})
	}
}

// TestNamesAreNotTranslated, also where an object has the name of a text of the catalogue.
func TestNamesAreNotTranslated(t *testing.T) {
	shown := table{columns: []column{{header: "NAME"}, {header: "REASON", says: true}}}
	shown.add(text("capacity"), text("the node is cordoned"))
	var out bytes.Buffer
	if _, err := shown.render(&out, Options{Language: messages.Chinese}); err != nil {
		t.Fatal(err)
	}
	if want := "名称      原因\ncapacity  该节点已被封锁\n"; out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}
