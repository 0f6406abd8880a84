package printer

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/nodeqos/agentview"
)

// coresInLine is how many cores a line of the map has at most. Lines begin at multiples of it, or of a half, a quarter and so on where
// that does not fit.
const coresInLine = 16

// cpuUse is how a use of CPUs is drawn: by a letter, so that the map can be read without colour, and named in the legend.
type cpuUse struct {
	letter string
	role   Role
	text   string
}

var cpuUses = map[agentview.CPUUse]cpuUse{
	agentview.CPUConflict:   {"!", Bad, "claimed twice"},
	agentview.CPUExclusive:  {"E", Prod, "LSE pod"},
	agentview.CPULent:       {"R", ProdReserved, "LSR pod, lent to best effort"},
	agentview.CPUBound:      {"K", Mid, "bound by kubelet"},
	agentview.CPUReserved:   {"N", System, "node reservation"},
	agentview.CPUSystem:     {"S", System, "SYSTEM pods"},
	agentview.CPUShared:     {"M", Plain, "services and best effort"},
	agentview.CPUServices:   {"L", Plain, "services (LS)"},
	agentview.CPUBestEffort: {"B", Batch, "best effort (BE)"},
	agentview.CPUFree:       {".", Idle, "in no pool"},
	agentview.CPUUnknown:    {"?", Warn, "owner unknown"},
}

// cpuMap draws the CPUs of a node, each NUMA node of each socket by itself, a group of letters for each core: hyperthreads stand beside
// each other. Without a topology there is no map.
func cpuMap(w io.Writer, cpus *diagnosticsv1alpha1.CPUExplanation, o Options) error {
	uses, counts := agentview.CPUUses(cpus), map[agentview.CPUUse]int{}
	var b strings.Builder
	for i := range cpus.Zones {
		zone := &cpus.Zones[i]
		cores := agentview.Cores(zone)
		for _, core := range cores {
			for _, cpu := range core {
				counts[uses[cpu]]++
			}
		}
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(fmt.Sprintf("socket %d, NUMA node %d: %s", zone.Socket, zone.NUMANode, phrase.Counted(len(cores), "core")))))
		drawCores(&b, cores, uses, o)
	}
	if b.Len() == 0 {
		return nil
	}
	var legend []string
	for use := agentview.CPUConflict; use <= agentview.CPUUnknown; use++ {
		if n := counts[use]; n > 0 {
			drawn := cpuUses[use]
			legend = append(legend, fmt.Sprintf("%s %s (%d)", o.Style.Paint(drawn.role, drawn.letter), o.say(drawn.text), n))
		}
	}
	wrapped(&b, o, 2, strings.Join(legend, ", "))
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}

// drawCores draws cores in lines, each with the CPUs of its first core.
func drawCores(b *strings.Builder, cores [][]int, uses map[int]agentview.CPUUse, o Options) {
	labels, groups := make([]string, len(cores)), make([]string, len(cores))
	label, group := 0, 1
	for i, core := range cores {
		var numbers []string
		for _, cpu := range core {
			use := cpuUses[uses[cpu]]
			groups[i] += o.Style.Paint(use.role, use.letter)
			numbers = append(numbers, strconv.Itoa(cpu))
		}
		labels[i] = strings.Join(numbers, ",")
		label, group = max(label, len(labels[i])), max(group, len(core))
	}
	const indent = 4
	inLine := coresInLine
	for o.Width > 0 && inLine > 1 && indent+label+inLine*(group+1)+1 > o.Width {
		inLine /= 2
	}
	for first := 0; first < len(cores); first += inLine {
		line := strings.Repeat(" ", indent) + o.Style.Paint(Dim, pad(labels[first], label, true, o.Style)) + " "
		for i := first; i < min(first+inLine, len(cores)); i++ {
			line += " " + groups[i] + strings.Repeat(" ", group-ansi.StringWidth(groups[i]))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
