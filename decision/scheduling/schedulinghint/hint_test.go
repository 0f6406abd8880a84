package schedulinghint

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"koordinator.sh/koord/api/extension"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		annotation string
		want       Hint
		wantError  string
	}{
		"no hint proposes nothing":                      {},
		"an empty hint proposes nothing":                {annotation: `{}`},
		"node names restrict":                           {annotation: `{"nodeNames":["a","b","a"]}`, want: Hint{Only: sets.New("a", "b")}},
		"preferred nodes are ordered, the first counts": {annotation: `{"preferredNodeNames":["b","a","b"]}`, want: Hint{Preferred: map[string]int{"b": 0, "a": 1}}},
		"a preferred node outside the restriction is none": {
			annotation: `{"nodeNames":["a"],"preferredNodeNames":["b","a"]}`, want: Hint{Only: sets.New("a"), Preferred: map[string]int{"a": 0}},
		},
		"more nodes than allowed":           {annotation: `{"nodeNames":["a","b","c","d"]}`, wantError: "names 4 nodes, more than maxHintNodes 3"},
		"more preferred nodes than allowed": {annotation: `{"preferredNodeNames":["a","b","c","d"]}`, wantError: "prefers 4 nodes, more than maxHintNodes 3"},
		"garbage":                           {annotation: `[1]`, wantError: "scheduling-hint"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			annotations := map[string]string{}
			if test.annotation != "" {
				annotations[extension.AnnotationSchedulingHint] = test.annotation
			}
			got, err := Parse(annotations, 3)
			if test.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantError) {
					t.Errorf("error %v, want one with %q", err, test.wantError)
				}
				if err != nil && !IsInvalid(err.Error()) {
					t.Errorf("the text of %q is not known", err)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("error %v, difference (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestScoresFollowTheOrder(t *testing.T) {
	hint := Hint{Preferred: map[string]int{"a": 0, "b": 1, "c": 2}}
	want := map[string]int64{"a": 100, "b": 67, "c": 34, "d": 0}
	got := map[string]int64{}
	for name := range want {
		got[name] = hint.Score(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scores (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, hint.InOrder()); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestHintsOfTheManagerExpire(t *testing.T) {
	written := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	pod := hinted(t, extension.SchedulingHint{NodeNames: []string{"a"}, PreferredNodeNames: []string{"a"}}, extension.QueryHint{Writer: extension.QueryHintWriter, Time: metav1.NewTime(written)})
	other := hinted(t, extension.SchedulingHint{PreferredNodeNames: []string{"a"}}, extension.QueryHint{Writer: "somebody", Time: metav1.NewTime(written)})
	tests := map[string]struct {
		pod   *corev1.Pod
		after time.Duration
		want  int
	}{
		"at first":                          {pod, 0, 1},
		"as long as it lasts":               {pod, Lasting, 1},
		"afterwards":                        {pod, Lasting + time.Second, 0},
		"a hint of anybody else never does": {other, 24 * time.Hour, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			hint, err := Parse(test.pod.Annotations, 10)
			if err != nil {
				t.Fatal(err)
			}
			got := hint.At(written.Add(test.after))
			if len(got.Preferred) != test.want || len(got.Only) != len(hint.Only) {
				t.Errorf("the hint is %+v, want %d preferred nodes", got, test.want)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	args := &Args{}
	SetDefaults(args)
	if errs := Validate(args); len(errs) > 0 || *args.MaxHintNodes != 100 {
		t.Errorf("maxHintNodes %d by default, errors %v", *args.MaxHintNodes, errs)
	}
	*args.MaxHintNodes = 0
	if errs := Validate(args); len(errs) != 1 || errs[0].Field != "maxHintNodes" {
		t.Errorf("errors %v, want one of maxHintNodes", errs)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"nodeNames":["a"]}`)
	f.Fuzz(func(t *testing.T, value string) {
		hint, err := Parse(map[string]string{extension.AnnotationSchedulingHint: value}, 10)
		if err != nil && !IsInvalid(err.Error()) {
			t.Errorf("the text of %q is not known", err)
		}
		if err == nil && (len(hint.Only) > 10 || len(hint.Preferred) > 10) {
			t.Errorf("%d and %d nodes", len(hint.Only), len(hint.Preferred))
		}
	})
}
