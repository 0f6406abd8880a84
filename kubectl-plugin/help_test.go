package kubectlplugin

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"koordinator.sh/koord/messages"
)

// TestEveryCommandHasHelpInChinese: what it does, each paragraph of its help, its examples, and what each of its flags is for.
func TestEveryCommandHasHelpInChinese(t *testing.T) {
	root := newRootCommand(&session{Options: Options{Name: "koordctl"}})
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		path := c.CommandPath()
		known := func(what, english string) {
			if english != "" && messages.Chinese.Text(english) == english {
				t.Errorf("%s of %s has no Chinese: %q", what, path, english)
			}
		}
		known("the summary", c.Short)
		if !strings.HasPrefix(path, "koordctl completion ") {
			for paragraph := range strings.SplitSeq(strings.Trim(c.Long, "\n"), "\n\n") {
				if flowing(paragraph) {
					paragraph = strings.ReplaceAll(paragraph, "\n", " ")
				}
				known("help", strings.Trim(paragraph, "\n"))
			}
		}
		for _, shown := range comment.FindAllStringSubmatch(c.Example, -1) {
			known("an example", shown[2])
		}
		c.LocalFlags().VisitAll(func(flag *pflag.Flag) { known("flag --"+flag.Name, flag.Usage) })
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(root)
}

func TestHelpIsInTheLanguageOfTheReader(t *testing.T) {
	tests := map[string]struct {
		line    string
		environ []string
	}{
		"zh-help":             {line: "", environ: []string{"LANG=zh_CN.UTF-8"}},
		"zh-help-explain-pod": {line: "explain pod --help", environ: []string{"LANG=zh_CN.UTF-8"}},
		"zh-help-exit-codes":  {line: "help exit-codes", environ: []string{"LANG=zh_CN.UTF-8"}},
		"zh-help-ascii":       {line: "version --help --ascii", environ: []string{"LANG=zh_CN.UTF-8"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			golden(t, name, test.line, run(t, cluster(), test.line, func(o *Options) { o.Environ = test.environ }))
		})
	}
}
