package tui

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

func amounts(pairs ...any) quota.Amounts {
	var out quota.Amounts
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, quota.Amount{Resource: corev1.ResourceName(pairs[i].(string)), Value: int64(pairs[i+1].(int))})
	}
	return out
}

// TestTheTextOfAQuota has each resource with all its amounts, and what is wrong with the quota.
func TestTheTextOfAQuota(t *testing.T) {
	spec := quota.Spec{Namespace: "quotas", Name: "team"}
	for name, tc := range map[string]struct {
		quota       source.Quota
		want, never []string
	}{
		"its place in the tree": {
			quota: source.Quota{Spec: quota.Spec{Namespace: "quotas", Name: "team", Parent: "org", TreeID: "gpu", IsParent: true, Lends: true, Namespaces: []string{"a", "b"}}},
			want:  []string{"quotas/team", "parent                   org", "tree                     gpu", "has children             yes", "lends unused min         yes", "namespaces               a, b"},
		},
		"a quota on its own": {
			quota: source.Quota{Spec: spec},
			want:  []string{"parent                   <none>", "tree                     <none>", "has children             no", "lends unused min         no", "namespaces               <none>"},
		},
		"a resource a line, cpu and memory first, each in its unit": {
			quota: source.Quota{Spec: quota.Spec{Min: amounts("nvidia.com/gpu", 4, "memory", 8<<30, "cpu", 2500)}, Used: amounts("cpu", 1000), Runtime: amounts("cpu", 3000), Request: amounts("cpu", 1500)},
			want: []string{"RESOURCE              USED   RUNTIME   REQUEST       MIN       MAX", "cpu                      1         3      1.50      2.50         -",
				"memory                   -         -         -       8Gi         -", "nvidia.com/gpu           -         -         -         4         -"},
		},
		"no limit is said in words": {
			quota: source.Quota{Spec: quota.Spec{Max: amounts("cpu", int(quota.Unlimited))}, Used: amounts("cpu", 1000), Runtime: amounts("cpu", int(quota.Unlimited))},
			want:  []string{"cpu                      1 unlimited         -         - unlimited"},
		},
		"nothing is known of a resource": {
			quota: source.Quota{Spec: quota.Spec{Min: amounts("cpu", 1000)}},
			want:  []string{"Unknown", "cpu                      -         -         -         1         -", "╌╌╌╌╌╌╌╌"},
		},
		"a number of many digits is whole": {
			quota: source.Quota{Used: amounts("koordinator.sh/gpu-memory", 17179869184), Runtime: amounts("koordinator.sh/gpu-memory", 1717986918400)},
			want:  []string{"17179869184", "1717986918400"},
		},
		"where it is not below its parent": {
			quota: source.Quota{Spec: spec, Misplaced: "its parent org does not exist"}, want: []string{"problem: its parent org does not exist"},
		},
		"the first problem is the reason of its state, the others follow": {
			quota: source.Quota{Spec: spec, Problems: []string{"min of cpu exceeds max", "weight cannot be read"}},
			want:  []string{"Invalid", "min of cpu exceeds max", "problem: weight cannot be read"}, never: []string{"problem: min of cpu"},
		},
		"a long name of a resource gives way": {
			quota: source.Quota{Used: amounts("example.com/a-resource-with-a-long-name", 1)}, want: []string{"example.com/a-r…         1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			lines := newRig(t, 1).m.quotaText(&tc.quota, minWidth)
			says(t, textOf(lines), tc.want, tc.never)
			for _, line := range lines {
				if cell.Width(line) > minWidth {
					t.Errorf("a line of %d cells: %q", cell.Width(line), line)
				}
			}
		})
	}
}

// TestTheColumnsOfAQuotaStandBelowTheirTitles, however long its numbers are.
func TestTheColumnsOfAQuotaStandBelowTheirTitles(t *testing.T) {
	for name, used := range map[string]int{"short": 1, "long": 17179869184, "longer": 1717986918400} {
		t.Run(name, func(t *testing.T) {
			q := source.Quota{Used: amounts("x", used, "cpu", 1000), Runtime: amounts("x", used, "cpu", 2000), Spec: quota.Spec{Max: amounts("x", used, "cpu", 3000)}}
			var ends []int
			for line := range strings.SplitSeq(textOf(newRig(t, 1).m.quotaTable(&q, minWidth)), "\n") {
				if strings.HasPrefix(line, "  RESOURCE") || strings.HasPrefix(line, "  cpu") || strings.HasPrefix(line, "  x ") {
					ends = append(ends, len(line))
				}
			}
			if len(ends) != 3 || ends[0] != ends[1] || ends[1] != ends[2] {
				t.Errorf("the lines end at %d", ends)
			}
		})
	}
}

// TestTheParentOfAQuota is looked for in all namespaces that are listed, else in that of the quota.
func TestTheParentOfAQuota(t *testing.T) {
	for name, tc := range map[string]struct {
		keys      []string
		want      object
		wantFlash string
	}{
		"it is listed":                    {[]string{":quotas", "enter", ":quota quotas/spark", "enter", "u"}, quotaObject("quotas", "analytics"), ""},
		"no quota is listed":              {[]string{":quota quotas/spark", "enter", "u"}, quotaObject("quotas", "analytics"), ""},
		"the quota is below the root":     {[]string{":quota quotas/shop", "enter", "u"}, quotaObject("quotas", "shop"), "the quota is directly below the root"},
		"the parent of the parent":        {[]string{":quota quotas/spark", "enter", "u", "u"}, quotaObject("quotas", "analytics"), "the quota is directly below the root"},
		"the quota cannot be read at all": {[]string{":quota quotas/nope", "enter", "u"}, quotaObject("quotas", "nope"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(tc.keys...)
			if got := r.m.page().about; got != tc.want || r.m.flash.text != tc.wantFlash {
				t.Errorf("it leads to %v and says %q, want %v and %q", got, r.m.flash.text, tc.want, tc.wantFlash)
			}
		})
	}
}
