package messages

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const example = `
# A comment.
msgid "Findings"
msgstr "发现"

msgid "needs %s %s, %s free"
msgstr "需要 %[2]s %[1]s，空闲 %[3]s"

msgid "%d nodes"
msgstr "%d 个节点"

msgid "%d/%d nodes are available: %v"
msgstr "%[2]d 个节点中有 %[1]d 个可用：%[3]v"

msgid "%d Insufficient %s (%v)"
msgstr "%d 个的 %s 不足（%v）"

msgid "requested %s"
msgstr "请求 %s"

msgid "one of %v"
msgstr "%v 之一"

msgid "gone"
msgstr "已消失"

msgid "node %q not found"
msgstr "找不到节点 %q"

msgid "above %d%%"
msgstr "超过 %d%%"
`

func exampleCatalogue(t *testing.T, content string) *catalogue {
	t.Helper()
	c, err := read(fstest.MapFS{"zh/example.po": {Data: []byte(content)}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTextsAreFoundByTheFormatThatMadeThem(t *testing.T) {
	tests := map[string]struct{ english, want string }{
		"a whole text":                            {"Findings", "发现"},
		"what has no entry stays":                 {"Something else", "Something else"},
		"arguments may change places":             {"needs 4 cpu, 3 free", "需要 cpu 4，空闲 3"},
		"numbers":                                 {"3 nodes", "3 个节点"},
		"a number is a number":                    {"no nodes", "no nodes"},
		"a message in a message":                  {"0/3 nodes are available: gone", "3 个节点中有 0 个可用：已消失"},
		"a list, and commas in parentheses":       {"0/3 nodes are available: 2 Insufficient cpu (requested 4), gone", "3 个节点中有 0 个可用：2 个的 cpu 不足（请求 4），已消失"},
		"a list of which one item is not known":   {"2 nodes, away", "2 nodes, away"},
		"such a list in a format":                 {"0/3 nodes are available: 2 nodes, away", "3 个节点中有 0 个可用：2 个节点，away"},
		"names in a short format":                 {"one of tc, terway-qos", "tc, terway-qos 之一"},
		"words in a short format":                 {"one of tc, some more", "one of tc, some more"},
		"names stay, also those that are texts":   {"requested gone", "请求 gone"},
		"clauses":                                 {"gone; 3 nodes", "已消失；3 个节点"},
		"a clause that is not known":              {"away; 3 nodes", "away；3 个节点"},
		"clauses of which none is known":          {"away; off", "away; off"},
		"a full stop":                             {"gone.", "已消失。"},
		"a code":                                  {"gone [KOORD1901]", "已消失 [KOORD1901]"},
		"what is quoted":                          {`node "a b" not found`, `找不到节点 "a b"`},
		"what is not quoted":                      {"node x not found", "node x not found"},
		"a percent sign":                          {"above 65%", "超过 65%"},
		"nothing is put into a format":            {"needs  cpu,  free", "needs  cpu,  free"},
		"an empty text":                           {"", ""},
		"semicolons without end are not followed": {strings.Repeat("; ", 500), strings.Repeat("; ", 500)},
	}
	c := exampleCatalogue(t, example)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := c.translate(test.english)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("translation (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMistakesInAFileAreNamed(t *testing.T) {
	tests := map[string]struct{ content, want string }{
		"a verb is missing":        {"msgid \"%s nodes\"\nmsgstr \"节点\"", "lacks a verb"},
		"another verb":             {"msgid \"%d nodes\"\nmsgstr \"%s 节点\"", "has other verbs"},
		"one verb too many":        {"msgid \"nodes\"\nmsgstr \"%s 节点\"", "has other verbs"},
		"a verb twice":             {"msgid \"%s nodes\"\nmsgstr \"%[1]s %[1]s\"", "has other verbs"},
		"verbs side by side":       {"msgid \"%s%s\"\nmsgstr \"%s%s\"", "nothing between them"},
		"two entries for a text":   {"msgid \"a\"\nmsgstr \"b\"\n\nmsgid \"a\"\nmsgstr \"c\"", "line 4: \"a\" has two entries"},
		"no translation":           {"msgid \"a\"", "line 1: an entry has a text and its translation"},
		"a translation of nothing": {"msgstr \"a\"", "line 1: an entry begins with msgid"},
		"a text without an end":    {"msgid \"a", "line 1: invalid syntax"},
		"something else":           {"msgid \"a\"\nmsgctxt \"b\"", "line 2: neither"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := read(fstest.MapFS{"zh/example.po": {Data: []byte(test.content)}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one that says %q", err, test.want)
			}
		})
	}
}

func TestEnglishStays(t *testing.T) {
	for _, language := range []Language{"", English, "fr"} {
		if got := language.Text("Usage:"); got != "Usage:" {
			t.Errorf("Text in %q = %q, want Usage:", language, got)
		}
	}
	if got := Chinese.Text("Usage:"); got != "用法：" {
		t.Errorf("Text in Chinese = %q, want 用法：", got)
	}
}

func TestWrap(t *testing.T) {
	tests := map[string]struct {
		text  string
		width int
		want  []string
	}{
		"at spaces":                           {"one two three", 8, []string{"one two", "three"}},
		"between characters":                  {"节点没有剩余资源", 9, []string{"节点没有", "剩余资源"}},
		"words stay whole":                    {"节点 worker-1 的资源", 13, []string{"节点 worker-1", "的资源"}},
		"punctuation stays with what it ends": {"节点没有，资源", 8, []string{"节点没", "有，资源"}},
		"brackets stay with what they open":   {"节点没（有）资源", 8, []string{"节点没", "（有）资", "源"}},
		"colours take no room":                {"\x1b[1m节点\x1b[m没有", 8, []string{"\x1b[1m节点\x1b[m没有"}},
		"a word that is too wide is cut":      {"abcdefgh", 4, []string{"abcd", "efgh"}},
		"nothing":                             {"", 8, []string{""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Wrap(test.text, test.width)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestColumns(t *testing.T) {
	tests := map[string]struct {
		rows [][]string
		want []string
	}{
		"the widest cell of a column counts":        {[][]string{{"NAME", "AGE"}, {"worker-1", "2d"}}, []string{"NAME       AGE", "worker-1   2d"}},
		"a character takes two cells":               {[][]string{{"名称", "时长"}, {"w-1", "2d"}}, []string{"名称   时长", "w-1    2d"}},
		"what ends a row does not widen its column": {[][]string{{"a", "b", "c"}, {"total", "1024Mi"}}, []string{"a       b   c", "total   1024Mi"}},
		"an empty row": {[][]string{{}, {"a"}}, []string{"", "a"}},
		"nothing":      {nil, []string{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Columns(test.rows, 3)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, text := range []string{"0/3 nodes are available: 2 Insufficient cpu (requested 4), gone.", "((, ; %s", "3 nodes; gone [KOORD1901]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := Chinese.Text(text); text != "" && got == "" {
			t.Errorf("%q is translated by nothing", text)
		}
	})
}
