package quotaadmission

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// family is a department of 10 CPUs with two teams, and a team outside of it.
func family() []*Quota {
	return []*Quota{
		quota("dept", "", "cpu=10", "cpu=20", parental),
		quota("a", "dept", "cpu=4", "cpu=40"),
		quota("b", "dept", "cpu=4", "cpu=8", bound("spark")),
		quota("loner", "", "cpu=100", "cpu=100"),
		quota("tree", "", "cpu=1", "cpu=100", treeRoot, inTree("7")),
		quota("leaf", "tree", "cpu=5", "cpu=50", inTree("7")),
	}
}

func TestRequestsAreRefusedWithACode(t *testing.T) {
	named := func(name string) *Quota {
		for _, q := range family() {
			if q.Name == name {
				return q
			}
		}
		return nil
	}
	edited := func(name string, edit func(*Quota)) *Quota {
		q := named(name)
		edit(q)
		return q
	}
	tests := []struct {
		name    string
		in      Input
		want    []finding.Code
		wantSay string
		// wantWarned is true when more is said than what refuses.
		wantWarned bool
	}{
		{name: "a child within the min of its parent", in: Input{Quota: quota("c", "dept", "cpu=2", "cpu=9")}},
		{name: "a child whose max exceeds that of its parent", in: Input{Quota: quota("c", "dept", "cpu=2", "cpu=900")}},
		{name: "a child beyond the min of its parent", in: Input{Quota: quota("c", "dept", "cpu=2001m", "cpu=9")},
			want: []finding.Code{finding.QuotaMinOvercommitted}, wantSay: "checkMinQuotaSum: the mins of the children of parent dept exceed its min: 10001m of cpu, of 10"},
		{name: "a child beyond the min of its parent by force", in: Input{Quota: quota("c", "dept", "cpu=16", "cpu=20", forced)}},
		{name: "children of the root are not added up", in: Input{Quota: quota("c", "", "cpu=9999999", "cpu=9999999", parental)}},
		{name: "a parent of 10 CPUs and one child of 16", in: Input{Quota: quota("c", "small", "cpu=16", "cpu=20"), Quotas: indexOf(quota("small", "", "cpu=10", "cpu=20", parental))},
			want: []finding.Code{finding.QuotaMinOvercommitted}},
		{name: "a child's min is raised beyond", in: Input{Old: named("a"), Quota: edited("a", func(q *Quota) { q.Min = list("cpu=7") })}, want: []finding.Code{finding.QuotaMinOvercommitted}},
		{name: "a child's min is raised within", in: Input{Old: named("a"), Quota: edited("a", func(q *Quota) { q.Min = list("cpu=6") })}},
		{name: "a parent's min falls below that of its children", in: Input{Old: named("dept"), Quota: edited("dept", func(q *Quota) { q.Min = list("cpu=7") })}, want: []finding.Code{finding.QuotaMinOvercommitted}},
		{name: "the min of a tree's root follows its nodes", in: Input{Old: named("tree"), Quota: edited("tree", func(q *Quota) { q.Min = list("cpu=0") })}},
		{name: "a label of a quota whose children have too much", in: Input{Old: quota("p", "", "cpu=1", "cpu=9", parental), Quota: quota("p", "", "cpu=1", "cpu=9", parental),
			Quotas: indexOf(quota("p", "", "cpu=1", "cpu=9", parental), quota("k", "p", "cpu=5", "cpu=9"))}},
		{name: "min exceeds max", in: Input{Quota: quota("c", "", "cpu=2", "cpu=1")}, want: []finding.Code{finding.QuotaInvalid}, wantSay: "min 2 of cpu exceeds max 1"},
		{name: "min of a resource without max", in: Input{Quota: quota("c", "", "cpu=2,memory=1Gi", "cpu=2")}, want: []finding.Code{finding.QuotaKeysMismatch}},
		{name: "everything negative", in: Input{Quota: quota("c", "", "cpu=-2", "cpu=-1", func(q *Quota) { q.Weight = list("cpu=-1") })},
			want: []finding.Code{finding.QuotaInvalid, finding.QuotaInvalid, finding.QuotaInvalid}},
		{name: "a min that was too much already", in: Input{Old: quota("loner", "", "cpu=2", "cpu=1"), Quota: quota("loner", "", "cpu=2", "cpu=1", inTree(""))}},
		{name: "max below what is used, strictly", in: Input{Old: named("loner"), Quota: edited("loner", func(q *Quota) {
			q.Min, q.Max, q.Used, q.StrictKeys = nil, list("cpu=5"), list("cpu=6"), keys(list("cpu=0,memory=0"))
		})}, want: []finding.Code{finding.QuotaMaxBelowUsed, finding.QuotaKeysMismatch}},
		{name: "a max of other resources than the parent's", in: Input{Quota: quota("c", "dept", "", "memory=1Gi")}, want: []finding.Code{finding.QuotaKeysMismatch, finding.QuotaKeysMismatch}},
		{name: "a max of fewer resources than the parent's where that is allowed", in: Input{Quota: quota("c", "dept", "", ""), Options: Options{UpdateResourceKeys: true}}},
		{name: "a parent limits a resource that its children do not", in: Input{Old: named("dept"), Quota: edited("dept", func(q *Quota) { q.Max = list("cpu=20,memory=1Gi") })}, want: []finding.Code{finding.QuotaKeysMismatch}},
		{name: "a parent no longer has what its children have", in: Input{Old: named("dept"), Quota: edited("dept", func(q *Quota) { q.Max, q.Min = nil, nil })},
			want: []finding.Code{finding.QuotaKeysMismatch, finding.QuotaKeysMismatch, finding.QuotaMinOvercommitted}},
		{name: "a parent that does not exist", in: Input{Quota: quota("c", "none", "", "cpu=1")}, want: []finding.Code{finding.QuotaParentMissing}},
		{name: "a parent that is none", in: Input{Quota: quota("c", "a", "", "cpu=1")}, want: []finding.Code{finding.QuotaParentUnfit}},
		{name: "the default quota as a parent", in: Input{Quota: quota("c", extension.DefaultQuotaName, "", "cpu=1"), Quotas: indexOf(quota(extension.DefaultQuotaName, "", "", ""))}, want: []finding.Code{finding.QuotaParentUnfit}},
		{name: "a quota below itself", in: Input{Old: named("dept"), Quota: edited("dept", func(q *Quota) { q.Parent = "dept" })}, want: []finding.Code{finding.QuotaCycle}},
		{name: "a quota below its grandchild", in: Input{Old: quota("x", "", "", "", parental), Quota: quota("x", "z", "", "", parental),
			Quotas: indexOf(quota("x", "", "", "", parental), quota("y", "x", "", "", parental), quota("z", "y", "", "", parental))}, want: []finding.Code{finding.QuotaCycle}},
		{name: "an old cycle does not trap the walk", in: Input{Quota: quota("x", "y", "", ""), Quotas: indexOf(quota("y", "z", "", "", parental), quota("z", "y", "", "", parental))}},
		{name: "an edit of a quota whose parent is gone", in: Input{Old: quota("x", "gone", "", "cpu=1"), Quota: quota("x", "gone", "", "cpu=2")}},
		{name: "a parent with children becomes a leaf", in: Input{Old: named("dept"), Quota: edited("dept", func(q *Quota) { q.IsParent = false })}, want: []finding.Code{finding.QuotaHasChildren}},
		{name: "a leaf with pods becomes a parent", in: Input{Old: named("a"), Quota: edited("a", parental), Pod: "ns/p"}, want: []finding.Code{finding.QuotaHasPods}},
		{name: "a leaf with pods becomes a parent where parents may have pods", in: Input{Old: named("a"), Quota: edited("a", parental), Pod: "ns/p", Options: Options{AllowParentPods: true}}},
		{name: "a leaf without pods becomes a parent", in: Input{Old: named("a"), Quota: edited("a", parental)}},
		{name: "the tree changes", in: Input{Old: named("loner"), Quota: edited("loner", inTree("9"))}, want: []finding.Code{finding.QuotaTreeImmutable}},
		{name: "another tree than the parent's", in: Input{Quota: quota("c", "tree", "", "cpu=1", inTree("8"))}, want: []finding.Code{finding.QuotaTreeMismatch}},
		{name: "a move to another tree", in: Input{Old: named("a"), Quota: edited("a", func(q *Quota) { q.Parent = "tree" })}, want: []finding.Code{finding.QuotaTreeMismatch, finding.QuotaMinOvercommitted}},
		{name: "another tree than that of the children that wait", in: Input{Quota: quota("late", "", "", "", parental, inTree("1")), Quotas: indexOf(quota("k", "late", "", ""))}, want: []finding.Code{finding.QuotaTreeMismatch}},
		{name: "a namespace of another quota", in: Input{Quota: quota("c", "", "", "cpu=1", bound("flink", "spark"))}, want: []finding.Code{finding.QuotaNamespaceTaken}, wantSay: "namespace spark is already bound to quota b"},
		{name: "a namespace of its own", in: Input{Old: named("b"), Quota: edited("b", bound("flink", "spark"))}},
		{name: "a parent with a namespace", in: Input{Quota: quota("c", "", "", "cpu=1", parental, bound("batch"))}, want: []finding.Code{finding.QuotaParentNamespaces},
			wantSay: "cannot hold the pods of namespace batch"},
		{name: "a parent with a namespace where parents may have pods", in: Input{Quota: quota("c", "", "", "cpu=1", parental, bound("batch")), Options: Options{AllowParentPods: true}}},
		{name: "a leaf with a namespace becomes a parent", in: Input{Old: named("b"), Quota: edited("b", parental)}, want: []finding.Code{finding.QuotaParentNamespaces}},
		{name: "a parent that had a namespace already", in: Input{Old: quota("c", "", "", "cpu=1", parental, bound("batch")), Quota: quota("c", "", "", "cpu=2", parental, bound("batch"))}},
		{name: "a parent that had a namespace gets one more", in: Input{Old: quota("c", "", "", "cpu=1", parental, bound("batch")), Quota: quota("c", "", "", "cpu=1", parental, bound("batch", "more"))},
			want: []finding.Code{finding.QuotaParentNamespaces}, wantSay: "namespace more"},
		{name: "a parent with the name of its namespace is a warning", in: Input{Quota: quota("ns", "", "", "cpu=1", parental)}, wantWarned: true, wantSay: "KOORD1332"},
		{name: "a name of another namespace", in: Input{Quota: quota("loner", "", "", "cpu=1", func(q *Quota) { q.Namespace = "other" })}, want: []finding.Code{finding.QuotaNameTaken}},
		{name: "an annotation that cannot be decoded is a warning", in: Input{Quota: quota("c", "", "", "cpu=1"), Undecoded: []error{errors.New("bad")}}, wantWarned: true},
		{name: "the default quota as a parent of others", in: Input{Quota: quota(extension.DefaultQuotaName, "dept", "", "", parental, inTree("1"))},
			want: []finding.Code{finding.QuotaBuiltIn, finding.QuotaBuiltIn, finding.QuotaBuiltIn}},
		{name: "the root is created", in: Input{Quota: &Quota{Name: extension.RootQuotaName, IsParent: true}}},
		{name: "the max of the default quota", in: Input{Old: quota(extension.DefaultQuotaName, "", "", ""), Quota: quota(extension.DefaultQuotaName, "", "", "cpu=5")}},
		{name: "a leaf is deleted", in: Input{Old: named("a")}},
		{name: "a leaf with pods is deleted", in: Input{Old: named("a"), Pod: "ns/p"}, want: []finding.Code{finding.QuotaHasPods}, wantSay: "such as ns/p"},
		{name: "a parent is deleted", in: Input{Old: named("dept")}, want: []finding.Code{finding.QuotaHasChildren}, wantSay: "2 of them, such as a"},
		{name: "one that does not count is deleted", in: Input{Old: edited("dept", func(q *Quota) { q.Namespace = "other" })}},
		{name: "the default quota is deleted", in: Input{Old: quota(extension.DefaultQuotaName, "", "", "")}, want: []finding.Code{finding.QuotaBuiltIn}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.in.Quotas == nil {
				test.in.Quotas = indexOf(family()...)
			}
			verdict := Validate(test.in)
			said := ""
			for _, f := range verdict.Findings {
				said += f.Text() + "\n"
			}
			if diff := cmp.Diff(test.want, refusals(verdict)); diff != "" {
				t.Errorf("refusals (-want +got):\n%s%s", diff, said)
			}
			if !strings.Contains(said, test.wantSay) {
				t.Errorf("findings lack %q:\n%s", test.wantSay, said)
			}
			if warned := len(verdict.Findings) > len(test.want); warned != test.wantWarned {
				t.Errorf("findings are\n%s", said)
			}
		})
	}
}

func refusals(verdict Verdict) []finding.Code {
	var codes []finding.Code
	for _, f := range verdict.Findings {
		if f.Refused {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

func TestAncestorsCoverWhatAMinIsRaisedBy(t *testing.T) {
	holding := func(guaranteed, allocated string) func(*Quota) {
		return func(q *Quota) { q.TreeID, q.Guaranteed, q.Allocated = "7", list(guaranteed), list(allocated) }
	}
	quotas := indexOf(
		quota("root", "", "cpu=100", "cpu=100", treeRoot, holding("cpu=100", "cpu=97")),
		quota("mid", "root", "cpu=90", "cpu=90", parental, holding("cpu=20", "cpu=18")),
		quota("leaf", "mid", "cpu=1", "cpu=90", holding("cpu=4", "cpu=4")),
	)
	for name, test := range map[string]struct {
		least string
		want  []finding.Code
	}{
		"within what it has":                    {least: "cpu=4"},
		"beyond, covered by both above":         {least: "cpu=9"},
		"beyond what both above have to spare":  {least: "cpu=9001m", want: []finding.Code{finding.QuotaGuaranteeLacking}},
		"a min that is not raised asks nothing": {least: "cpu=1"},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Old: quotas.Get("leaf"), Quota: quota("leaf", "mid", test.least, "cpu=90", holding("cpu=4", "cpu=4")), Quotas: quotas, Options: Options{GuaranteeUsage: true}}
			verdict := Validate(in)
			if diff := cmp.Diff(test.want, refusals(verdict)); diff != "" {
				t.Errorf("refusals (-want +got):\n%s", diff)
			}
			if len(test.want) > 0 && !strings.Contains(verdict.Findings[0].Message, "tree root quota root can't guarantee for min") {
				t.Errorf("message is %q", verdict.Findings[0].Message)
			}
			in.Options.GuaranteeUsage = false
			if verdict := Validate(in); len(verdict.Guarantees) > 0 || verdict.Refused() {
				t.Errorf("without the option: %+v", verdict)
			}
		})
	}
}
