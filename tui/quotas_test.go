package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/style"
)

// TestTheStateOfAQuota is the gravest of its resources.
func TestTheStateOfAQuota(t *testing.T) {
	cpu := func(v int64) quota.Amounts { return quota.Amounts{{Resource: "cpu", Value: v}} }
	both := func(c, m int64) quota.Amounts {
		return quota.Amounts{{Resource: "cpu", Value: c}, {Resource: "memory", Value: m}}
	}
	for name, tc := range map[string]struct {
		quota       source.Quota
		want        string
		wantProblem bool
	}{
		"it uses its min":                 {source.Quota{Spec: quota.Spec{Min: cpu(10)}, Runtime: cpu(10), Used: cpu(10), Request: cpu(10)}, "Normal", false},
		"it uses more than min":           {source.Quota{Spec: quota.Spec{Min: cpu(10)}, Runtime: cpu(20), Used: cpu(11), Request: cpu(11)}, "Borrows", false},
		"it lends":                        {source.Quota{Spec: quota.Spec{Min: cpu(10), Lends: true}, Runtime: cpu(4), Used: cpu(4), Request: cpu(4)}, "Lends", false},
		"it may not lend":                 {source.Quota{Spec: quota.Spec{Min: cpu(10)}, Runtime: cpu(4), Used: cpu(4), Request: cpu(4)}, "Normal", false},
		"pods wait":                       {source.Quota{Spec: quota.Spec{Min: cpu(10)}, Runtime: cpu(10), Used: cpu(9), Request: cpu(12)}, "Waiting", true},
		"it uses more than it may":        {source.Quota{Spec: quota.Spec{Min: cpu(10)}, Runtime: cpu(10), Used: cpu(11), Request: cpu(12)}, "Overused", true},
		"another resource is the gravest": {source.Quota{Runtime: both(10, 10), Used: both(1, 11), Request: both(20, 11)}, "Overused", true},
		"the root counts pods that it does not limit": {
			source.Quota{Spec: quota.Spec{Name: extension.RootQuotaName}, Runtime: cpu(10), Used: cpu(11), Request: cpu(0)}, "Normal", false,
		},
		"nothing is published":               {source.Quota{Spec: quota.Spec{Min: cpu(10)}}, "Unknown", true},
		"it cannot be read":                  {source.Quota{Problems: []string{"bad"}, Runtime: cpu(10), Used: cpu(1)}, "Invalid", true},
		"use at the runtime is not too much": {source.Quota{Runtime: cpu(10), Used: cpu(10), Request: cpu(10)}, "Normal", false},
	} {
		t.Run(name, func(t *testing.T) {
			row := quotaRows([]source.Quota{tc.quota}, "cpu")[0]
			if got := row.state.word(); got != tc.want || quotaProblem(&row) != tc.wantProblem {
				t.Errorf("state %s, problem %t, want %s, %t", got, quotaProblem(&row), tc.want, tc.wantProblem)
			}
		})
	}
}

// TestTheBarOfAQuota has exactly its width, and its parts in their order.
func TestTheBarOfAQuota(t *testing.T) {
	st := style.New(plainLook)
	for name, tc := range map[string]struct {
		amounts quotaAmounts
		want    string
	}{
		"used, borrowed, free and asked": {quotaAmounts{Min: new(int64(3)), Used: new(int64(5)), Runtime: new(int64(8)), Request: new(int64(10))}, "███│▓···▒▒"},
		"unused min is lent":             {quotaAmounts{Min: new(int64(10)), Used: new(int64(2)), Runtime: new(int64(5)), Request: new(int64(5))}, "██···     "},
		"without a min":                  {quotaAmounts{Used: new(int64(5)), Runtime: new(int64(10))}, "▓▓▓▓▓·····"},
		"without a limit":                {quotaAmounts{Used: new(int64(5)), Runtime: new(int64(quota.Unlimited)), Request: new(int64(10))}, "▓▓▓▓▓·····"},
		"nothing is known":               {quotaAmounts{Min: new(int64(10))}, "╌╌╌╌╌╌╌╌╌╌"},
		"all is nothing":                 {quotaAmounts{Min: new(int64(0)), Used: new(int64(0)), Runtime: new(int64(0))}, "╌╌╌╌╌╌╌╌╌╌"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ansi.Strip(quotaBar(&tc.amounts, 10, st)); got != tc.want {
				t.Errorf("bar %q, want %q", got, tc.want)
			}
		})
	}
}

func TestQuotasLeadToTheirObjects(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{
		"explain":          {[]string{"x"}, "nodes > quotas > analytics"},
		"to the parent":    {[]string{"j", "enter", "u"}, "nodes > quotas > report > analytics"},
		"to the pods":      {[]string{"p"}, "nodes > quotas > pods"},
		"below the root":   {[]string{"enter", "u"}, "nodes > quotas > analytics"},
		"describe":         {[]string{"d"}, "nodes > quotas > describe quota quotas/analytics"},
		"another resource": {[]string{"tab", "x"}, "nodes > quotas > analytics"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(":quotas", "enter").press(tc.keys...)
			if got := r.crumbs(); got != tc.want {
				t.Errorf("leads to %q, want %q", got, tc.want)
			}
		})
	}
	r := newRig(t, 30).start().press(":quotas", "enter", "p")
	if got := r.m.table().Selector(); got != "quota.scheduling.koordinator.sh/name=analytics" {
		t.Errorf("pods are selected by %q", got)
	}
	r = newRig(t, 30).start().press(":quotas", "enter", "shift+tab")
	if text := r.screen(); !strings.Contains(text, "quotas(memory)") {
		t.Errorf("shift-tab shows the last resource:\n%s", text)
	}
}
