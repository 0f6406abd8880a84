package resctrl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSchemata(t *testing.T) {
	tests := map[string]struct {
		content string
		want    Schemata
	}{
		"as the kernel pads it":         {"    MB:0=100;1= 50\n    L3:0=00f;1=7ff\n", Schemata{"MB": {0: 100, 1: 50}, "L3": {0: 0xf, 1: 0x7ff}}},
		"code and data":                 {"L3DATA:0=ff\nL3CODE:0=f\n", Schemata{"L3DATA": {0: 0xff}, "L3CODE": {0: 0xf}}},
		"resources that nobody divides": {"SMBA:0=2048\nL2:0=f\nMB:0=2048\n", Schemata{"MB": {0: 2048}}},
		"nothing":                       {"\n", Schemata{}},
		"no cache":                      {"L3:x=f\n", nil},
		"no value":                      {"MB:0\n", nil},
		"a mask that is none":           {"L3:0=xyz\n", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseSchemata(tc.content)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != (tc.want == nil) {
				t.Errorf("%v, schemata (-want +got):\n%s", err, diff)
			}
		})
	}
}

func FuzzParseSchemata(f *testing.F) {
	for _, seed := range []string{"L3:0=f;1=7ff\nMB:0= 50\n", "MB:", "L3:0=;", ":::", "MB:-1=3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		parsed, err := ParseSchemata(content)
		if err == nil && !parsed.Has(parsed) {
			t.Errorf("%q does not have its own values", content)
		}
	})
}
