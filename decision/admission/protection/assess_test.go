package protection

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	policySpec  = `{"failurePolicy":"Fail","matchConditions":[{"name":"m","expression":"true"}],"matchConstraints":{"resourceRules":[{"apiGroups":[""],"resources":["pods"]}]},"validations":[{"expression":"authorizer.group('scheduling.koordinator.sh').resource('podallocations').allowed()"}]}`
	bindingSpec = `{"policyName":"p","validationActions":["Deny"]}`
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	out := map[string]any{}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAssess(t *testing.T) {
	spec := func(text string) string { return `{"spec":` + text + `}` }
	tests := map[string]struct {
		kind, expected, live string
		wantState            State
		wantChanges          []string
	}{
		"it is gone":         {Policy, policySpec, "", Missing, nil},
		"it is as installed": {Policy, policySpec, spec(policySpec), InForce, nil},
		"what the API server fills in": {Policy, policySpec, spec(`{"failurePolicy":"Fail","matchConditions":[{"name":"m","expression":"true"}],
			"matchConstraints":{"matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"resourceRules":[{"apiGroups":[""],"resources":["pods"],"scope":"*"}]},
			"validations":[{"expression":"authorizer.group('scheduling.koordinator.sh').resource('podallocations').allowed()"}]}`), InForce, nil},
		"failures are ignored": {Policy, policySpec, spec(`{"failurePolicy":"Ignore","matchConditions":[{"name":"m","expression":"true"}],"matchConstraints":{"resourceRules":[{"apiGroups":[""],"resources":["pods"]}]},"validations":[{"expression":"authorizer.group('scheduling.koordinator.sh').resource('podallocations').allowed()"}]}`),
			Weakened, []string{"spec.failurePolicy is Ignore instead of Fail"}},
		"other expressions": {Policy, policySpec, spec(`{"failurePolicy":"Fail","matchConditions":[{"name":"m","expression":"false"}],"matchConstraints":{"resourceRules":[{"apiGroups":[""],"resources":["pods"]}]},"validations":[{"expression":"true"}]}`),
			Weakened, []string{"spec.matchConditions[0].expression is false instead of true", "spec.validations[0].expression was changed"}},
		"a narrower scope": {Policy, policySpec, spec(`{"failurePolicy":"Fail","matchConditions":[{"name":"m","expression":"true"}],"matchConstraints":{"objectSelector":{"matchLabels":{"a":"b"}},"resourceRules":[{"apiGroups":[""],"resources":["pods"],"scope":"Cluster"}]},"validations":[{"expression":"authorizer.group('scheduling.koordinator.sh').resource('podallocations').allowed()"}]}`),
			Weakened, []string{"spec.matchConstraints.resourceRules[0].scope is Cluster", `spec.matchConstraints.objectSelector is {"matchLabels":{"a":"b"}}`}},
		"a binding that only audits": {Binding, bindingSpec, spec(`{"policyName":"p","validationActions":["Audit"]}`),
			Weakened, []string{"spec.validationActions[0] is Audit instead of Deny"}},
		"a binding that only some namespaces have": {Binding, bindingSpec, spec(`{"policyName":"p","validationActions":["Deny"],"matchResources":{"namespaceSelector":{"matchLabels":{"a":"b"}}}}`),
			Weakened, []string{"spec.matchResources was changed"}},
		"a binding that also audits":       {Binding, bindingSpec, spec(`{"policyName":"p","validationActions":["Deny","Audit"]}`), Weakened, []string{`spec.validationActions is ["Deny","Audit"] instead of ["Deny"]`}},
		"webhooks":                         {ValidatingWebhooks, "", `{"webhooks":[{"name":"a"}]}`, InForce, nil},
		"no webhooks":                      {ValidatingWebhooks, "", `{}`, Weakened, []string{"it has no webhooks"}},
		"what it should be cannot be read": {Binding, "{", spec(bindingSpec), Weakened, []string{"its expected spec cannot be read from configmap koordinator-protections: unexpected end of JSON input"}},
		"a spec that is gone":              {Binding, bindingSpec, `{}`, Weakened, []string{"spec was changed"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Assess(Protection{Kind: tc.kind, Name: "x"}, tc.expected, object(t, tc.live))
			if diff := cmp.Diff(tc.wantChanges, got.Changes); diff != "" || got.State != tc.wantState {
				t.Errorf("state %s, want %s; changes (-want +got):\n%s", got.State, tc.wantState, diff)
			}
		})
	}
}

// TestExpectedIsWhatTheConfigMapNames: what was turned off is not missed.
func TestExpectedIsWhatTheConfigMapNames(t *testing.T) {
	found := Expected(map[string]string{"ValidatingAdmissionPolicy.koordlet-own-node": policySpec, "of another version": ""})
	if len(found) != 1 || found[0].Name != "koordlet-own-node" || found[0].Kind != Policy {
		t.Errorf("expected %+v, want koordlet-own-node", found)
	}
}
