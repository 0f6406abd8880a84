package gang

import (
	"testing"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// TestReasonsTellTheirCode has the reasons made as decisions make them.
func TestReasonsTellTheirCode(t *testing.T) {
	grouped := NewBook(defaults)
	add(grouped, "a", 1, 1, extension.AnnotationGangGroups, groupsOfBoth)
	misread := NewBook(defaults)
	add(misread, "a", 0, 1)
	refusing := bookOf("a", 3, 3)
	permit(refusing, "a", 1)
	// The reason of the refused member holds the words of another refusal.
	failed := refusing.Fail(keyOf("a"), uidOf("a", 0), `gangGroup [x] basic check: memberGangs [x] has not init, current gang: x`, start)
	lost := bookOf("a", 3, 3)
	permit(lost, "a", 0)
	tests := map[string]struct {
		reason string
		want   finding.Code
	}{
		"no gang":                            {NewBook(defaults).Ready(keyOf("a")).Reason, finding.GangNotFound},
		"no gang in Permit":                  {permit(NewBook(defaults), "a", 0).Refused.Reason, finding.GangNotFound},
		"too few members":                    {bookOf("a", 3, 2).Ready(keyOf("a")).Reason, finding.GangMembersMissing},
		"a gang of the group does not exist": {grouped.Ready(keyOf("a")).Reason, finding.GangGroupMissing},
		"no minimum":                         {misread.Ready(keyOf("a")).Reason, finding.GangInvalid},
		"a member was refused":               {failed.Reason, finding.GangMemberRefused},
		"so the others are not tried":        {refusing.Admit(keyOf("a"), uidOf("a", 2), start).Reason, finding.GangMemberRefused},
		"a member lost its node":             {lost.Unplace(keyOf("a"), podOf("a", 1), start).Reason, finding.GangMemberRefused},
		"the wait was too long":              {"rejected due to timeout after waiting 20s at plugin Coscheduling", finding.GangMemberRefused},
		"another plugin's":                   {"Insufficient cpu", ""},
		"nothing":                            {"", ""},
	}
	for name, test := range tests {
		if got := CodeOf(test.reason); got != test.want || test.want != "" && test.reason == "" {
			t.Errorf("%s: %q has code %q, want %q", name, test.reason, got, test.want)
		}
	}
}
