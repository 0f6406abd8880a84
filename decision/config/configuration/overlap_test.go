package configuration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOverlap(t *testing.T) {
	const key = "colocation-config"
	doc := func(text string) map[string]string { return map[string]string{key: text} }
	base := doc(`{"enable": true, "a": 1, "nodeConfigs": [{"name": "gold", "a": 2}]}`)
	tests := map[string]struct {
		base, mine, theirs map[string]string
		want               []string
	}{
		"different fields": {base, doc(`{"enable": false, "a": 1, "nodeConfigs": [{"name": "gold", "a": 2}]}`),
			doc(`{"enable": true, "a": 5, "nodeConfigs": [{"name": "gold", "a": 2}]}`), nil},
		"the same field": {base, doc(`{"enable": true, "a": 3, "nodeConfigs": [{"name": "gold", "a": 2}]}`),
			doc(`{"enable": true, "a": 5, "nodeConfigs": [{"name": "gold", "a": 2}]}`), []string{key + ".a"}},
		"the same field with the same value": {base, doc(`{"enable": true, "a": 3, "nodeConfigs": [{"name": "gold", "a": 2}]}`),
			doc(`{"enable": true, "a": 3, "nodeConfigs": [{"name": "gold", "a": 2}]}`), nil},
		"one removes, the other changes": {base, doc(`{"enable": true, "nodeConfigs": [{"name": "gold", "a": 2}]}`),
			doc(`{"enable": true, "a": 3, "nodeConfigs": [{"name": "gold", "a": 2}]}`), []string{key + ".a"}},
		"the cluster's and a strategy's": {base, doc(`{"enable": true, "a": 3, "nodeConfigs": [{"name": "gold", "a": 2}]}`),
			doc(`{"enable": true, "a": 1, "nodeConfigs": [{"name": "gold", "a": 7}]}`), nil},
		"one strategy by both": {base, doc(`{"enable": true, "a": 1, "nodeConfigs": [{"name": "gold", "a": 3}]}`),
			doc(`{"enable": true, "a": 1, "nodeConfigs": [{"name": "gold", "a": 7}]}`), []string{key + ".nodeConfigs[gold].a"}},
		"a strategy that the other appends to": {base, doc(`{"enable": true, "a": 1, "nodeConfigs": [{"name": "gold", "a": 3}]}`),
			doc(`{"enable": true, "a": 1, "nodeConfigs": [{"name": "gold", "a": 2}, {"name": "new"}]}`), nil},
		"a strategy of a list that is reordered": {base, doc(`{"enable": true, "a": 1, "nodeConfigs": [{"name": "gold", "a": 3}]}`),
			doc(`{"enable": true, "a": 1, "nodeConfigs": [{"name": "new"}, {"name": "gold", "a": 2}]}`), []string{key + ".nodeConfigs[gold].a"}},
		"a strategy of a list that is removed": {base, doc(`{"enable": true, "a": 1, "nodeConfigs": [{"name": "gold", "a": 3}]}`),
			doc(`{"enable": true, "a": 1}`), []string{key + ".nodeConfigs[gold].a"}},
		"a whole key that is removed": {base, nil, doc(`{"enable": true, "a": 5, "nodeConfigs": [{"name": "gold", "a": 2}]}`), []string{key + ".a"}},
		"both add a key":              {nil, doc(`{"a": 1}`), doc(`{"b": 1}`), nil},
		"both add a field":            {nil, doc(`{"a": 1}`), doc(`{"a": 2, "b": 3}`), []string{key + ".a"}},
		"different keys":              {nil, doc(`{"a": 1}`), map[string]string{"system-config": "{}"}, nil},
		"a text that is no JSON":      {doc("{"), doc("{}"), doc("{]"), []string{key}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Overlap(tc.base, tc.mine, tc.theirs)); diff != "" {
				t.Errorf("overlap (-want +got):\n%s", diff)
			}
			if back := Overlap(tc.base, tc.theirs, tc.mine); (len(back) > 0) != (len(tc.want) > 0) {
				t.Errorf("the other way round %q", back)
			}
		})
	}
}

func TestOverlappingKeys(t *testing.T) {
	base := map[string]string{"a": "1", "b": "1", "c": "1"}
	mine := map[string]string{"a": "2", "b": "2", "c": "1", "d": "1"}
	theirs := map[string]string{"a": "2", "b": "3", "d": "1", "e": "1"}
	if diff := cmp.Diff([]string{"b"}, OverlappingKeys(base, mine, theirs)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b"}, OverlappingKeys(base, mine, map[string]string{"a": "1", "c": "1"})); diff != "" {
		t.Errorf("a key that is removed (-want +got):\n%s", diff)
	}
}
