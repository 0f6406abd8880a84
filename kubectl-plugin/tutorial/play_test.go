package tutorial

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/google/go-cmp/cmp/cmpopts"
	"koordinator.sh/koord/messages"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// harvest is a tutorial whose kubectl is cat: what it applies is what it prints.
func harvest(fail error, ended *[]string) Tutorial {
	sheaves := 0
	return Tutorial{
		Name: "harvest", Aliases: []string{"crop"}, Title: "A harvest", Short: "Brings sheaves in", Intro: "What grew is\nbrought in.\n\nIt takes a day.",
		Steps: []Step{
			{
				Title: "Look at the field", Text: "It is full.",
				Do: func(ctx context.Context, s *Session) error {
					s.Undo(func(context.Context) error { *ended = append(*ended, "first"); return nil })
					s.Undo(func(context.Context) error { *ended = append(*ended, "second"); return nil })
					sheaves = 12
					_, err := s.show(ctx, "kubectl", s.KubectlPath, "kind: Sheaf\n", nil)
					return err
				},
				Seen: func() string { return fmt.Sprintf("There are %d sheaves.", sheaves) },
			},
			{
				Title: "Bring them in", Text: "The field is empty then.",
				Do: func(_ context.Context, s *Session) error {
					s.Table([][]string{{"WHERE", "SHEAVES"}, {"barn", "12"}})
					return nil
				},
				Holds: func(context.Context, *Session) error { return fail },
			},
		},
	}
}

func play(t *testing.T, tutorial Tutorial) (Record, string, error) {
	t.Helper()
	var out bytes.Buffer
	s := &Session{KubectlPath: "cat", Work: t.TempDir(), Out: &out, Progress: &out}
	record, err := s.Play(t.Context(), tutorial)
	return record, out.String(), err
}

func TestATutorialIsPrintedAndRecorded(t *testing.T) {
	var ended []string
	record, printed, err := play(t, harvest(nil, &ended))
	if err != nil {
		t.Fatal(err)
	}
	want := []Done{
		{Title: "Look at the field", Text: "It is full.", Seen: "There are 12 sheaves.", Ran: []Ran{{Line: "kubectl <<EOF\nkind: Sheaf\nEOF", Output: "kind: Sheaf\n"}}},
		{Title: "Bring them in", Text: "The field is empty then.", Table: [][]string{{"WHERE", "SHEAVES"}, {"barn", "12"}}},
	}
	if diff := cmp.Diff(want, record.Done); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"second", "first"}, ended); diff != "" {
		t.Errorf("undone (-want +got):\n%s", diff)
	}
	golden(t, "printed.txt", printed)
	golden(t, "page.md", Page(record))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestAStepThatDoesNotHoldEndsTheTutorial(t *testing.T) {
	var ended []string
	hail := errors.New("it hails")
	record, _, err := play(t, harvest(hail, &ended))
	if want := `step 2 of tutorial "harvest", "Bring them in": it hails`; !errors.Is(err, hail) || err.Error() != want {
		t.Errorf("error = %v; want %s", err, want)
	}
	if len(record.Done) != 2 || len(ended) != 2 {
		t.Errorf("%d steps are recorded and %d things undone; want 2 and 2", len(record.Done), len(ended))
	}
}

func TestAReaderOfChineseIsToldWhatIsDoneMeanwhile(t *testing.T) {
	var out bytes.Buffer
	s := &Session{Out: &out, Progress: &out, Language: messages.Chinese}
	if err := s.Await(t.Context(), "the node to be ready", time.Minute, func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	s.Table([][]string{{"SITUATION", "P99", "CPU USED"}, {"service alone", "7.1 ms", "12 %"}, {"with Spark", "8.0 ms", "58 %"}})
	want := `   ... 等待节点就绪

   情形            P99      CPU 用量
   仅服务          7.1 ms   12 %
   与 Spark 一起   8.0 ms   58 %
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestWaitingEndsWithWhatWasSeenLast(t *testing.T) {
	var out bytes.Buffer
	s := &Session{Out: &out, Progress: &out}
	looks := 0
	if err := s.Await(t.Context(), "rain", time.Minute, func(context.Context) error { looks++; return nil }); err != nil || looks != 1 {
		t.Errorf("Await = %v after %d looks; want nil after 1", err, looks)
	}
	dry := errors.New("it is dry")
	err := s.Await(t.Context(), "rain", time.Millisecond, func(context.Context) error { return dry })
	if !errors.Is(err, dry) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Await = %v; want that the time was over, and that it is dry", err)
	}
}

func TestCommandLinesAreTypedInAShell(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"plain":             {[]string{"get", "pods", "-n", "shop"}, "kubectl get pods -n shop"},
		"what a shell eats": {[]string{"get", "-l", "a in (b, c)"}, "kubectl get -l 'a in (b, c)'"},
		"a quote":           {[]string{"it's"}, `kubectl 'it'\''s'`},
		"nothing":           {[]string{""}, "kubectl ''"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, commandLine("kubectl", tc.args)); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAProgramThatFailsSaysWhy(t *testing.T) {
	s := &Session{Work: t.TempDir()}
	_, err := s.Run(t.Context(), "sh", "", "-c", "echo no such field >&2; exit 3")
	if err == nil || !strings.Contains(err.Error(), "exit status 3: no such field") {
		t.Errorf("error = %v; want the exit status and standard error", err)
	}
}

func TestParagraphsAreSeparatedByEmptyLines(t *testing.T) {
	got := paragraphs("\nOne\nline.\n\n\nAnother  one.\n")
	if diff := cmp.Diff([]string{"One line.", "Another one."}, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("paragraphs (-want +got):\n%s", diff)
	}
}
