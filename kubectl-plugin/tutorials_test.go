package kubectlplugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/messages"
)

// TestPagesOfTutorialsTellWhatTheyDo: each page was written from a run of the steps as they are declared. Their tests write it with
// -update, where the engine can run.
func TestPagesOfTutorialsTellWhatTheyDo(t *testing.T) {
	for _, declared := range tutorials() {
		of := declared()
		t.Run(of.Name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join("..", "docs", "tutorials", of.Name+".md"))
			if err != nil {
				t.Fatal(err)
			}
			record := tutorial.Record{Tutorial: of}
			for _, step := range of.Steps {
				record.Done = append(record.Done, tutorial.Done{Title: step.Title, Text: step.Text})
			}
			rest := string(content)
			for line := range strings.Lines(tutorial.Page(record)) {
				_, after, found := strings.Cut(rest, line)
				if !found {
					t.Fatalf("the page lacks this line, or has it elsewhere: %s", line)
				}
				rest = after
			}
		})
	}
}

// TestEveryWordOfATutorialIsKnownInChinese, as far as it is known before the tutorial runs.
func TestEveryWordOfATutorialIsKnownInChinese(t *testing.T) {
	for _, declared := range tutorials() {
		of := declared()
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
