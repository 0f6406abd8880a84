package printer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func TestABriefAnswerIsBrief(t *testing.T) {
	long := Brief{Role: Bad, Sentence: "it is down", Code: "KOORD0001", Next: []string{"kubectl a", "kubectl a", "", "kubectl b", "kubectl c", "koordctl explain node n"}}
	for i := range 9 {
		long.Evidence = append(long.Evidence, fmt.Sprintf("evidence %d", i))
	}
	tests := map[string]struct {
		answer Brief
		want   []string
	}{
		"the sentence alone": {answer: Brief{Role: Good, Sentence: "it runs"}, want: []string{"+ it runs"}},
		"the first evidence, and the first commands with the last one": {answer: long, want: []string{
			"x it is down [KOORD0001]",
			"  - evidence 0", "  - evidence 1", "  - evidence 2", "  - evidence 3", "  - evidence 4",
			"Next", "    kubectl a", "    kubectl b", "    kubectl koord explain node n",
		}},
		"texts from the cluster": {
			answer: Brief{Role: Warn, Sentence: "\x1b[31mred\nline", Evidence: []string{"a\x07b\nc"}, Next: []string{"kubectl get \x1b]0;x\x07n"}},
			want:   []string{"! red line", "  - a b c", "Next", "    kubectl get n"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := test.answer.Print(&b, Options{Style: Style{ASCII: true}, Program: "kubectl koord"}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, strings.Split(strings.TrimRight(b.String(), "\n"), "\n")); diff != "" {
				t.Errorf("the answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestABriefAnswerHasErrorsFirst(t *testing.T) {
	found := func(code string, severity diagnosticsv1alpha1.Severity, hint string) diagnosticsv1alpha1.Finding {
		return diagnosticsv1alpha1.Finding{Code: code, Severity: severity, Message: "m", Hint: hint}
	}
	var got Brief
	got.add([]diagnosticsv1alpha1.Finding{
		found("KOORD0003", diagnosticsv1alpha1.SeverityInfo, "kubectl get x"), found("KOORD0002", diagnosticsv1alpha1.SeverityWarning, "ask for rights"),
		found("KOORD0001", diagnosticsv1alpha1.SeverityError, "koordctl status"), found("KOORD0004", diagnosticsv1alpha1.SeverityWarning, "koordctl install"),
	})
	want := Brief{
		Evidence: []string{"m [KOORD0001]", "m [KOORD0002]", "m [KOORD0003]"}, Next: []string{"koordctl status", "kubectl get x"}, Note: "m [KOORD0004]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestABriefAnswerOfAPodKeepsTheChangeThatHelps: many refusals do not push it out.
func TestABriefAnswerOfAPodKeepsTheChangeThatHelps(t *testing.T) {
	e := &diagnosticsv1alpha1.PodExplanation{}
	e.Status.Pod.Namespace, e.Status.Pod.Name = "shop", "web"
	e.Status.Groups = make([]diagnosticsv1alpha1.RefusalGroup, 9)
	e.Status.Fix = &diagnosticsv1alpha1.Fix{Description: "uncordon n", Command: "kubectl uncordon n"}
	got := BriefPod(e)
	if len(got.Evidence) != mostEvidence || got.Evidence[mostEvidence-1] != "smallest change that helps: uncordon n" {
		t.Errorf("evidence %q", got.Evidence)
	}
	if diff := cmp.Diff([]string{"kubectl uncordon n", "koordctl explain pod web -n shop"}, got.Next); diff != "" {
		t.Errorf("next (-want +got):\n%s", diff)
	}
	e.Status.Fix = nil
	if without := BriefPod(e); len(without.Evidence) != len(e.Status.Groups) {
		t.Errorf("without such a change, evidence %q", without.Evidence)
	}
}

// TestABriefAnswerOfAPodThatWaitsForItsQuota says when that has room before anything else, and keeps the change that helps.
func TestABriefAnswerOfAPodThatWaitsForItsQuota(t *testing.T) {
	at := func(minutes int) time.Time { return fixtureNow.Add(time.Duration(minutes) * time.Minute).UTC() }
	e := &diagnosticsv1alpha1.PodExplanation{}
	e.Status.Pod.Namespace, e.Status.Pod.Name = "etl", "report"
	e.Status.Groups = make([]diagnosticsv1alpha1.RefusalGroup, 9)
	e.Status.Fix = &diagnosticsv1alpha1.Fix{Description: "raise the quota"}
	whole := JobForecast{
		name: "report", Ends: &JobEnds{Point: at(20), Low: at(15), High: at(30)},
		Starts: &JobStart{Quota: "etl", Point: new(at(10)), Low: new(at(8)), High: new(at(15)), After: []JobEnd{{Name: "a"}, {Name: "b"}}},
	}
	unknown := JobForecast{name: "report", Ends: whole.Ends, Starts: &JobStart{Quota: "etl", Low: new(at(0)), Lasting: 2, Unknown: 1}}
	tests := map[string]struct {
		forecast  JobForecast
		wantFirst []string
	}{
		"known": {whole, []string{
			"It has room at " + stamp(new(at(10))) + ", between " + stamp(new(at(8))) + " and " + stamp(new(at(15))) + ", when 2 jobs have ended, the last of them b.",
			"It would end at " + stamp(new(at(20))) + ", between " + stamp(new(at(15))) + " and " + stamp(new(at(30))) + ".",
			"smallest change that helps: raise the quota",
		}},
		"not known": {unknown, []string{
			"When it has room is not known (pods in it that are no jobs: 2, jobs of unknown duration: 1).", "smallest change that helps: raise the quota",
		}},
		"the quota has room": {JobForecast{Starts: &JobStart{}}, BriefPod(e).Evidence[:1]},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := BriefPod(e).Starting(test.forecast, "etl")
			if diff := cmp.Diff(test.wantFirst, got.Evidence[:len(test.wantFirst)]); diff != "" {
				t.Errorf("evidence (-want +got):\n%s", diff)
			}
			if last := got.Next[len(got.Next)-1]; last != "koordctl explain pod report -n etl" {
				t.Errorf("the last command is %q", last)
			}
		})
	}
}
