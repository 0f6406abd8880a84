package configuration

import (
	"strings"
	"testing"

	"koordinator.sh/koord/api/finding"
)

func TestThePredictorOfAPoolIsValidated(t *testing.T) {
	const pool = `{"enable": true, "nodeConfigs": [{"name": "web", "nodeSelector": {"matchLabels": {"pool": "web"}}, `
	tests := map[string]struct {
		text     string
		wantCode finding.Code
		wantText string
	}{
		"sound":                           {pool + `"extensions": {"predictor": {"batch": "balanced", "mid": "seasonal", "coldStartMinutes": 0}}}]}`, "", ""},
		"turned off for a pool":           {`{"enable": true, "extensions": {"predictor": {"batch": "safe"}}, "nodeConfigs": [{"name": "web", "nodeSelector": {"matchLabels": {"pool": "web"}}, "extensions": {"predictor": {"batch": "none"}}}]}`, "", ""},
		"an extension of somebody else":   {`{"enable": true, "extensions": {"theirs": {"predictor": 7}}}`, "", ""},
		"a profile that does not exist":   {pool + `"extensions": {"predictor": {"batch": "best"}}}]}`, finding.ConfigOutOfRange, "must be one of none, balanced, safe"},
		"a cold start of more than a day": {pool + `"extensions": {"predictor": {"batch": "safe", "coldStartMinutes": 2000}}}]}`, finding.ConfigOutOfRange, "at least 0 and at most 1440"},
		"a field that does not exist":     {pool + `"extensions": {"predictor": {"batches": "safe"}}}]}`, finding.ConfigUnknownField, "did you mean batch?"},
		"no object":                       {`{"enable": true, "extensions": {"predictor": "safe"}}`, finding.ConfigMalformed, "must be an object"},
		"co-location is off":              {`{"enable": false, "extensions": {"predictor": {"batch": "safe"}}}`, finding.ConfigInert, "nothing is predicted"},
		"mid is static":                   {`{"enable": true, "midReclaimMode": "static", "midStaticCPUReservedPercent": 10, "extensions": {"predictor": {"mid": "seasonal"}}}`, finding.ConfigInert, "midReclaimMode is static"},
		"a cold start and no predictor":   {`{"enable": true, "extensions": {"predictor": {"coldStartMinutes": 10}}}`, finding.ConfigInert, "no predictor is chosen"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var about []string
			hit := test.wantCode == ""
			for _, f := range Validate(Input{Data: map[string]string{colocationKey: test.text}}) {
				if !strings.Contains(f.Path+f.Message, "redictor") && !strings.Contains(f.Message, "coldStart") && !strings.Contains(f.Message, "must be") {
					continue
				}
				about = append(about, string(f.Code)+" "+f.Message)
				hit = hit || f.Code == test.wantCode && strings.Contains(f.Message, test.wantText)
			}
			if !hit || test.wantCode == "" && len(about) > 0 {
				t.Errorf("findings are %q, want %s with %q", about, test.wantCode, test.wantText)
			}
		})
	}
}

func TestThePredictorIsExplained(t *testing.T) {
	path, err := ParseKeyPath("colocation-config.extensions.predictor")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := Explain(path)
	if err != nil || len(docs) != 3 {
		t.Fatalf("%d fields, %v", len(docs), err)
	}
	for _, doc := range docs {
		if doc.Description == "" || doc.Range == "" {
			t.Errorf("%s has description %q and range %q", doc.Path, doc.Description, doc.Range)
		}
	}
}
