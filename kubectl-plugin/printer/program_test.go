package printer

import "testing"

func TestCommandsShowTheNameCalledBy(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a hint that is a command":      {"koordctl install", "kubectl koord install"},
		"a command before prose":        {"koordctl sandbox up starts one; kubectl config get-contexts lists", "kubectl koord sandbox up starts one; kubectl config get-contexts lists"},
		"a command after prose":         {"look first; koordctl status", "look first; kubectl koord status"},
		"commands in backquotes":        {"`koordctl top nodes`, `koordctl top pods -A`.", "`kubectl koord top nodes`, `kubectl koord top pods -A`."},
		"Chinese around the backquotes": {"用 `koordctl install` 安装。", "用 `kubectl koord install` 安装。"},
		"a command after Chinese prose": {"先查看；koordctl status 显示", "先查看；kubectl koord status 显示"},
		"the name alone in backquotes":  {"run `koordctl`", "run `kubectl koord`"},
		"the file of the program":       {"koord-sandbox must lie beside koordctl or on PATH", "koord-sandbox must lie beside koordctl or on PATH"},
		"part of another word":          {"koordctl-old x", "koordctl-old x"},
		"several lines":                 {"first\nkoordctl status", "first\nkubectl koord status"},
		"nothing of the program":        {"kubectl get nodes", "kubectl get nodes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Called("kubectl koord", tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			for _, program := range []string{"", "koordctl"} {
				if got := Called(program, tc.text); got != tc.text {
					t.Errorf("called %q: got %q, want the text unchanged", program, got)
				}
			}
		})
	}
}
