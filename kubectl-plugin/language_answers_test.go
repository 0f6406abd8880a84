package kubectlplugin

import "testing"

// TestAnswersAreInTheLanguageOfTheReader for the main answers; object names, states, codes and commands stay.
func TestAnswersAreInTheLanguageOfTheReader(t *testing.T) {
	tests := map[string]string{
		"zh-explain-pod":  "explain pod huge -n shop",
		"zh-top-workload": "top workloads -n shop",
		"zh-bad-flag":     "top nodes --wide",
		"zh-no-pods":      "top pods -n nowhere",
		"zh-name":         "top nodes -o name",
	}
	for name, line := range tests {
		t.Run(name, func(t *testing.T) {
			golden(t, name, line, run(t, cluster(), line, func(o *Options) { o.Environ = []string{"LANG=zh_CN.UTF-8"} }))
		})
	}
}
