package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	kubectlplugin "koordinator.sh/koord/kubectl-plugin"
)

// escaped is what roff writes before, or in place of, a character that is meant as it stands.
var escaped = regexp.MustCompile(`\\(&|\[[a-z]+\]|f[BIPR]|(.))`)

// plain is the text of a page without roff's own signs.
func plain(page string) string {
	page = strings.NewReplacer(`\[la]`, "<", `\[ra]`, ">", `\(aq`, "'", `\(ha`, "^", `\(ti`, "~").Replace(page)
	return strings.Join(strings.Fields(escaped.ReplaceAllString(page, "$2")), " ")
}

// TestEveryCommandHasItsPage compares the words of the pages with those of help, for Markdown and roff have signs of their own.
func TestEveryCommandHasItsPage(t *testing.T) {
	dir := t.TempDir()
	newRoot := func() *cobra.Command { return kubectlplugin.NewCommand(kubectlplugin.Options{Name: "koordctl"}) }
	if err := write(newRoot(), dir, doc.GenManHeader{Source: "koordctl v1.2.3"}, time.Unix(0, 0).UTC()); err != nil {
		t.Fatal(err)
	}
	pages := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		section := "1"
		if cmd.IsAdditionalHelpTopicCommand() {
			section = "7"
		} else if cmd.HasParent() && !cmd.IsAvailableCommand() {
			return
		}
		pages++
		path := filepath.Join(dir, "man"+section, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+"."+section)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			return
		}
		text, markdown := plain(string(data)), strings.NewReplacer("#### ", "", "`", "")
		wants := append(strings.Split(cmd.Long, "\n\n"), cmd.Short, "koordctl v1.2.3")
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if !flag.Hidden {
				wants = append(wants, "--"+flag.Name, flag.Usage)
			}
		})
		wants = append(wants, strings.Split(cmd.Example, "\n")...)
		for _, want := range wants {
			if want = markdown.Replace(strings.Join(strings.Fields(want), " ")); !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", filepath.Base(path), want, text)
				return
			}
		}
		for _, below := range cmd.Commands() {
			visit(below)
		}
	}
	visit(newRoot())
	if pages < 90 {
		t.Errorf("%d pages", pages)
	}
}
