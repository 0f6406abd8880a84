package quotaadmission

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

func brings(total string) func(*Quota) { return func(q *Quota) { q.Total = list(total) } }

func apart(q *Quota) { q.IgnoreDefaultTree = true }

func TestMinsAtTheTopAreWhatThereIs(t *testing.T) {
	others := []*Quota{
		quota("a", "", "cpu=40", "cpu=100"), quota("dept", "", "cpu=30", "cpu=100", parental), quota("team", "dept", "cpu=30", "cpu=100"),
		quota("pool", "", "cpu=20", "cpu=900", treeRoot, inTree("7"), brings("cpu=20")),
		quota("pool2", "", "cpu=50", "cpu=900", treeRoot, inTree("8"), brings("cpu=50"), apart),
	}
	tests := []struct {
		name     string
		quota    *Quota
		old      *Quota
		others   []*Quota
		total    string
		want     []finding.Code
		wantSays string
	}{
		{name: "what remains", quota: quota("b", "", "cpu=10", "cpu=100"), total: "cpu=100"},
		{name: "more than remains", quota: quota("b", "", "cpu=11", "cpu=100"), total: "cpu=100", want: []finding.Code{finding.QuotaBeyondTotal},
			wantSays: "the mins of the top-level quotas of the default tree exceed its total: 81 of cpu, of 80, of which 10 remain"},
		{name: "all that can be written", quota: quota("b", "", "cpu=9223372036854775807", "cpu=9223372036854775807"), total: "cpu=100", want: []finding.Code{finding.QuotaBeyondTotal}},
		{name: "by force", quota: quota("b", "", "cpu=11", "cpu=100", forced), total: "cpu=100", want: []finding.Code{finding.QuotaBeyondTotal}},
		{name: "as a root without a tree", quota: quota("b", "", "cpu=11", "cpu=100", treeRoot), total: "cpu=100", want: []finding.Code{finding.QuotaBeyondTotal}},
		{name: "of a resource that no node has", quota: quota("b", "", "fpga=1", "fpga=1"), total: "cpu=100", want: []finding.Code{finding.QuotaBeyondTotal}, wantSays: "1 of fpga, of 0, of which 0 remain"},
		{name: "a child of a parent has the parent's", quota: quota("b", "dept", "cpu=0", "cpu=100"), total: "cpu=1"},
		{name: "raised to what remains", old: quota("a", "", "cpu=40", "cpu=100"), quota: quota("a", "", "cpu=50", "cpu=100"), total: "cpu=100"},
		{name: "raised beyond", old: quota("a", "", "cpu=40", "cpu=100"), quota: quota("a", "", "cpu=51", "cpu=100"), total: "cpu=100", want: []finding.Code{finding.QuotaBeyondTotal}},
		{name: "lowered while nodes are gone", old: quota("a", "", "cpu=40", "cpu=100"), quota: quota("a", "", "cpu=39", "cpu=100"), total: "cpu=30"},
		{name: "max changes while nodes are gone", old: quota("a", "", "cpu=40", "cpu=100"), quota: quota("a", "", "cpu=40", "cpu=200"), total: "cpu=30"},
		{name: "raised while nodes are gone", old: quota("a", "", "cpu=40", "cpu=100"), quota: quota("a", "", "cpu=41", "cpu=200"), total: "cpu=30", want: []finding.Code{finding.QuotaBeyondTotal}},
		{name: "moved to the top", old: quota("team", "dept", "cpu=30", "cpu=100"), quota: quota("team", "", "cpu=30", "cpu=100"), total: "cpu=100", want: []finding.Code{finding.QuotaBeyondTotal}},
		{name: "beside the root of a tree", quota: quota("b", "", "cpu=1", "cpu=9", inTree("7")), total: "cpu=100", want: []finding.Code{finding.QuotaBeyondTotal}, wantSays: `tree "7"`},
		{name: "the root follows its nodes", quota: quota("pool", "", "cpu=99", "cpu=900", treeRoot, inTree("7"), brings("cpu=99")), old: others[3], total: "cpu=1"},
		{name: "a tree that says it has less than nothing", quota: quota("b", "", "cpu=31", "cpu=100"), total: "cpu=100", want: []finding.Code{finding.QuotaBeyondTotal},
			others: []*Quota{quota("odd", "", "", "cpu=1", treeRoot, inTree("9"), brings("cpu=-1000"))}},
		{name: "a tree of which nothing says what it has", quota: quota("b", "", "cpu=1", "cpu=9", inTree("9")), total: "cpu=1"},
		{name: "no node is known yet", quota: quota("b", "", "cpu=1000", "cpu=1000")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			verdict := Validate(Input{Quota: test.quota, Old: test.old, Quotas: indexOf(append(test.others, others...)...), Total: list(test.total)})
			var got []finding.Code
			said := ""
			for _, f := range verdict.Findings {
				if f.Refused {
					got, said = append(got, f.Code), said+f.Message
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("codes (-want +got):\n%s\n%s", diff, said)
			}
			if !strings.Contains(said, test.wantSays) {
				t.Errorf("it says %q, want %q", said, test.wantSays)
			}
		})
	}
}

// TestAdmittedMinsNeverExceedTheTotal: whatever is written, in whatever order, as long as nodes stay.
func TestAdmittedMinsNeverExceedTheTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(1, 100).Draw(t, "total")
		x := NewIndex()
		for range rapid.IntRange(1, 30).Draw(t, "writes") {
			q := quota(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name"), "", "", "", func(q *Quota) {
				least := rapid.OneOf(rapid.Int64Range(0, 60), rapid.Just(int64(math.MaxInt64))).Draw(t, "min")
				q.Min = corev1.ResourceList{"cpu": *resource.NewQuantity(least, resource.DecimalSI)}
				q.Max, q.Forced, q.TreeRoot = q.Min, rapid.Bool().Draw(t, "forced"), rapid.Bool().Draw(t, "root")
			})
			old := x.Get(q.Name)
			if rapid.IntRange(0, 4).Draw(t, "delete") == 0 && old != nil {
				x.Remove(old.Namespace, old.Name)
				continue
			}
			if verdict := Validate(Input{Quota: q, Old: old, Quotas: x, Total: corev1.ResourceList{"cpu": *resource.NewQuantity(total, resource.DecimalSI)}}); !verdict.Refused() {
				x.Set(q)
			}
			sum := x.minAtTop("", "")["cpu"]
			if sum.CmpInt64(total) > 0 {
				t.Fatalf("mins of %s were admitted, of %d", sum.String(), total)
			}
		}
	})
}

func in(namespace string) func(*Quota) { return func(q *Quota) { q.Namespace = namespace } }

func TestWhatBelongsToOthersNeedsARight(t *testing.T) {
	others := indexOf(
		quota("dept", "", "cpu=30", "cpu=100", parental, in("others")), quota("mine", "", "", "cpu=1", parental),
		quota("pool", "", "cpu=20", "cpu=900", treeRoot, inTree("7"), brings("cpu=20"), in("others")),
	)
	use := func(name string) Right { return UseOf("others", name) }
	root := quota("pool", "", "cpu=20", "cpu=900", treeRoot, inTree("7"), brings("cpu=20"), in("others"))
	tests := []struct {
		name       string
		quota, old *Quota
		want       []Right
	}{
		{name: "a quota of one's own", quota: quota("q", "", "cpu=1", "cpu=1", bound("ns"))},
		{name: "below one's own", quota: quota("q", "mine", "", "cpu=1")},
		{name: "the pods of another namespace", quota: quota("q", "", "", "cpu=0", bound("ns", "victim")), want: []Right{belongTo("victim")}},
		{name: "as before", quota: quota("q", "", "", "cpu=0", bound("victim")), old: quota("q", "", "", "cpu=1", bound("victim"))},
		{name: "below the quota of others", quota: quota("q", "dept", "", "cpu=1"), want: []Right{use("dept")}},
		{name: "moved below it", quota: quota("q", "dept", "", "cpu=1"), old: quota("q", "mine", "", "cpu=1"), want: []Right{use("dept")}},
		{name: "it was below it", quota: quota("q", "dept", "", "cpu=2"), old: quota("q", "dept", "", "cpu=1")},
		{name: "beside the root of others", quota: quota("q", "", "", "cpu=1", inTree("7")), want: []Right{use("pool")}},
		{name: "in a tree that nobody has made yet", quota: quota("q", "", "", "cpu=1", inTree("8")), want: []Right{shapeTrees}},
		{name: "a tree of its own with the nodes of all", quota: quota("q", "", "", "cpu=1", treeRoot, inTree("8"), brings("cpu=9000")), want: []Right{shapeTrees}},
		{name: "a tree has more", old: root, quota: quota("pool", "", "cpu=20", "cpu=900", treeRoot, inTree("7"), brings("cpu=21"), in("others")), want: []Right{shapeTrees}},
		{name: "a tree has its nodes twice", old: root, quota: quota("pool", "", "cpu=20", "cpu=900", treeRoot, inTree("7"), brings("cpu=20"), apart, in("others")), want: []Right{shapeTrees}},
		{name: "the min of a root is raised", old: root, quota: quota("pool", "", "cpu=21", "cpu=900", treeRoot, inTree("7"), brings("cpu=20"), in("others")), want: []Right{shapeTrees}},
		{name: "its max", old: root, quota: quota("pool", "", "cpu=20", "cpu=9", treeRoot, inTree("7"), brings("cpu=20"), in("others"))},
		{name: "by force", quota: quota("q", "", "", "cpu=1", forced), want: []Right{shapeTrees}},
		{name: "forced already, with more", old: quota("q", "", "cpu=1", "cpu=9", forced), quota: quota("q", "", "cpu=2", "cpu=9", forced), want: []Right{shapeTrees}},
		{name: "forced already, with less", old: quota("q", "", "cpu=2", "cpu=9", forced), quota: quota("q", "", "cpu=1", "cpu=9", forced)},
		{name: "a root without a tree", quota: quota("q", "mine", "", "cpu=1", treeRoot), want: []Right{shapeTrees}},
		{name: "a quota of the system", quota: quota(extension.SystemQuotaName, "", "", "cpu=1"), want: []Right{shapeTrees}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := Input{Quota: test.quota, Old: test.old, Quotas: others, Options: Options{Protect: true}}
			if diff := cmp.Diff(test.want, Rights(in)); diff != "" {
				t.Errorf("rights (-want +got):\n%s", diff)
			}
			lacking := func() bool {
				verdict := Validate(in)
				for _, f := range verdict.Findings {
					if f.Code == finding.QuotaRightLacking {
						return true
					}
				}
				return false
			}
			if got := lacking(); got != (len(test.want) > 0) {
				t.Errorf("refused for lack of rights: %v", got)
			}
			in.Held = map[Right]bool{}
			for _, right := range test.want {
				in.Held[right] = true
			}
			if lacking() {
				t.Error("refused although all rights are held")
			}
			if in.Options.Protect = false; len(Rights(in)) > 0 {
				t.Error("rights are asked for where quotas are not protected")
			}
		})
	}
}
