package printer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/messages"
)

func TestLegend(t *testing.T) {
	const lack, load = "KOORD1901", "KOORD1102"
	tests := map[string]struct {
		printed  string
		language messages.Language
		want     []string
	}{
		"in English the text says it":      {"✗ no room [KOORD1901]", messages.English, nil},
		"without a language it is English": {"✗ no room [KOORD1901]", "", nil},
		"nothing to explain":               {"all is well", messages.Chinese, nil},
		"each code once, in their order":   {"1 KOORD1102 load\n2 KOORD1901 room\n3 KOORD1102 load", messages.Chinese, []string{load, lack}},
		"a code in colours":                {"\x1b[31mKOORD1102\x1b[m", messages.Chinese, []string{load}},
		"a code that does not exist":       {"KOORD9998", messages.Chinese, nil},
		"a word that begins like one":      {"KOORD12, KOORDINATOR", messages.Chinese, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := Legend(&b, test.printed, Options{Language: test.language}); err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(b.String()) {
				if code, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(code, "KOORD") {
					got = append(got, code)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
			if explained := strings.Count(b.String(), "处理: "); explained != len(test.want) {
				t.Errorf("%d of %d codes have a remedy:\n%s", explained, len(test.want), b.String())
			}
		})
	}
}

func TestLegendIsInChinese(t *testing.T) {
	var b strings.Builder
	if err := Legend(&b, "KOORD1102", Options{Language: messages.Chinese, Width: 60, Program: "kubectl koord"}); err != nil {
		t.Fatal(err)
	}
	want := "\n代码\n  KOORD1102 节点用量加上该 Pod 的预估用量超过负载感知阈\n    值。\n    处理: 等待负载下降、减小请求，或提高阈值。\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("legend (-want +got):\n%s", diff)
	}
}
