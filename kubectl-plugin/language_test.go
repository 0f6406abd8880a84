package kubectlplugin

import "testing"

// TestAnswersExplainTheirCodesInChinese: below what people read, never in what programs read, and not where the answer is about the code.
func TestAnswersExplainTheirCodesInChinese(t *testing.T) {
	tests := map[string]string{
		"zh-why-pod":      "why pod/huge -n shop",
		"zh-explain-node": "explain node worker-2 batch-cpu",
		"zh-unknown-node": "explain node worker-9",
		"zh-top-nodes":    "top nodes",
		"zh-json":         "explain pod huge -n shop -o jsonpath={.status.code}",
		"zh-code":         "why KOORD0102",
	}
	for name, line := range tests {
		t.Run(name, func(t *testing.T) {
			golden(t, name, line, run(t, cluster(), line, func(o *Options) { o.Environ = []string{"LANG=en_US.UTF-8", "KOORD_LANG=zh"} }))
		})
	}
}
