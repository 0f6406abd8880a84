package tui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"koordinator.sh/koord/tui/internal/cell"
)

// longNames are names as long as those of cloud machines and of generated pods; wideNames are texts in characters of two cells. Names of
// Kubernetes have no such characters, but messages and labels may.
var (
	longNames = []string{
		"node-00", "ip-10-128-45-171.eu-central-1.compute.internal-00", "search-", "search-ranking-and-recommendations-canary-7d9c6b8f5c-",
		"checkout-", "checkout-payments-reconciliation-weekly-28761120-", "shop", "team-storefront-production", "ml", "team-machine-learning-research",
		"tune", "tune-large-language-model-hyperparameters-2026-03", "spark", "spark-history-and-thrift-server-for-business-intelligence",
		"hot-4-", "descheduler-low-node-load-checkout-payments-7d9c6b8f5c-", "quotas", "kube-koordinator-quotas",
	}
	wideNames = []string{
		"Insufficient cpu", "中央处理器资源不足", "Insufficient nvidia.com/gpu", "没有足够的图形处理器", "the reservation has expired", "预留资源已经过期",
		"search-", "搜索服务-", "checkout-", "结账服务-", "node-", "节点-", "spark-", "火花计算-", "tune", "调优任务",
		"the eviction was refused", "驱逐请求被拒绝", "cpu usage", "处理器使用率",
	}
)

// tooLong reports whether a line was cut at the edge of the terminal without a sign of it.
func tooLong(line string, width int, ellipsis string) bool {
	return cell.Width(line) == width && strings.TrimRight(line, " ") == line && !strings.HasSuffix(line, ellipsis) && !strings.ContainsAny(line, "─╌▁█▓░·")
}

// TestLongAndWideNames holds what each screen shows of names that are longer, and characters that are wider, than usual.
func TestLongAndWideNames(t *testing.T) {
	for look, pairs := range map[string][]string{"long": longNames, "wide": wideNames} {
		t.Run(look, func(t *testing.T) {
			// These two show no name but that of their title.
			screensWith(t, func(s *screen) bool { return s.name != helpName && s.name != chartName }, func(t *testing.T, name string) {
				for _, size := range terminals {
					r := rename(t, pairs...).start().openRenamed(name)
					r.resize(size[0], size[1])
					text := r.plain()
					golden(t, filepath.Join("testdata", "names", look, fmt.Sprintf("%s.%dx%d.golden", name, size[0], size[1])), text)
					for i, line := range strings.Split(text, "\n") {
						if tooLong(line, size[0], r.m.st.Ellipsis) {
							t.Errorf("line %d is cut off, and nothing says so: %q", i, line)
						}
					}
				}
			})
		})
	}
}

// TestTextsOfTenThousandCharactersFit on every screen, also where the terminal has room for one character alone, or for many.
func TestTextsOfTenThousandCharactersFit(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	screensWith(t, func(*screen) bool { return true }, func(t *testing.T, name string) {
		r := rename(t, "node-", "node-"+long, "search", "search"+long, "checkout", "checkout"+long, "shop", "shop"+long, "Insufficient", "Insufficient"+long).start()
		r.openRenamed(name)
		for _, size := range [][2]int{{500, 200}, {80, 24}, {1, 1}} {
			r.resize(size[0], size[1])
			for _, key := range []string{"j", "G", "ctrl+w", "?", "?"} {
				if misfit := r.press(key).misfit(); misfit != "" {
					t.Fatalf("%v after %s: %.200s", size, key, misfit)
				}
			}
		}
	})
}

// TestAnyNameFits: no frame is wider or higher than the terminal, whatever names are and whatever its size.
func TestAnyNameFits(t *testing.T) {
	texts := rapid.StringOfN(rapid.SampledFrom([]rune("ab-.0 世界ｱé👩‍🚀\u0301\u200d\u202e")), 1, 90, -1)
	keys := rapid.SampledFrom([]string{"j", "G", "enter", "esc", "ctrl+w", "tab", "ctrl+f", "S", "d", "y", "x", "n", "p", "e", "?", "space", "c", "w"})
	screens := newRig(t, 1).m.screens
	rapid.Check(t, func(rt *rapid.T) {
		var pairs []string
		for i, word := range []string{"node-", "search", "checkout", "shop", "tune", "spark", "hot", "cpu", "Insufficient"} {
			pairs = append(pairs, word, string(rune('A'+i))+texts.Draw(rt, word)) // the letter tells them apart on the way back
		}
		r := rename(t, pairs...).start().openRenamed(rapid.SampledFrom(screens).Draw(rt, "screen").name)
		for range 6 {
			r.resize(rapid.IntRange(minWidth, 220).Draw(rt, "width"), rapid.IntRange(minHeight, 70).Draw(rt, "height"))
			key := keys.Draw(rt, "key")
			if misfit := r.press(key).misfit(); misfit != "" {
				rt.Fatalf("%s after %s: %s", r.crumbs(), key, misfit)
			}
		}
	})
}
