package loopguard

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

type percents = map[corev1.ResourceName]float64

// agreeing are thresholds that go together, changed by a test.
func agreeing(change func(*Input)) Input {
	in := Input{
		Agent:       Agent{Enabled: true, CPUSuppress: new(65.0), CPUEvict: new(90.0), MemoryEvict: new(90.0)},
		Descheduler: Descheduler{Enabled: true, Plugin: "LowNodeLoad", Low: percents{"cpu": 45, "memory": 55}, High: percents{"cpu": 75, "memory": 80}, Margin: 5},
		Scheduler:   Scheduler{Enabled: true, Usage: percents{"cpu": 65, "memory": 75}},
	}
	if change != nil {
		change(&in)
	}
	return in
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		change func(*Input)
		want   []string
	}{
		"thresholds that agree": {},
		"the agent evicts at 65 and the scheduler places until 95": {
			change: func(in *Input) {
				in.Agent.MemoryEvict, in.Scheduler.Usage = new(65.0), percents{"cpu": 65, "memory": 95}
			},
			want: []string{
				"SchedulerAboveHigh memory: LoadAwareScheduling.usageThresholds.memory (95%) is above LowNodeLoad.highThresholds.memory (80%)",
				"AgentBelowHigh memory: resource-threshold-config.memoryEvictThresholdPercent (65%) is not above LowNodeLoad.highThresholds.memory (80%)",
				"AgentBelowScheduler memory: resource-threshold-config.memoryEvictThresholdPercent (65%) is not above LoadAwareScheduling.usageThresholds.memory (95%)",
			},
		},
		"an agent that evicts at its default is not compared with the scheduler": {
			change: func(in *Input) {
				in.Descheduler.Enabled = false
				in.Agent.MemoryEvict, in.Agent.UsualMemoryEvict = new(70.0), new(70.0)
			},
		},
		"an agent that evicts below its default is": {
			change: func(in *Input) {
				in.Descheduler.Enabled = false
				in.Agent.MemoryEvict, in.Agent.UsualMemoryEvict = new(69.0), new(70.0)
			},
			want: []string{"AgentBelowScheduler memory: resource-threshold-config.memoryEvictThresholdPercent (69%) is not above LoadAwareScheduling.usageThresholds.memory (75%)"},
		},
		"an agent that is disabled evicts nothing": {
			change: func(in *Input) { in.Agent.MemoryEvict, in.Agent.Enabled = new(65.0), false },
		},
		"the scheduler's threshold equal to high": {
			change: func(in *Input) { in.Scheduler.Usage["cpu"] = 75 },
		},
		"the scheduler's threshold above high": {
			change: func(in *Input) { in.Scheduler.Usage["cpu"] = 76 },
			want:   []string{"SchedulerAboveHigh cpu: LoadAwareScheduling.usageThresholds.cpu (76%) is above LowNodeLoad.highThresholds.cpu (75%)"},
		},
		"aggregated thresholds come before those of the latest usage": {
			change: func(in *Input) { in.Scheduler.Aggregated = percents{"cpu": 85} },
			want:   []string{"SchedulerAboveHigh cpu: LoadAwareScheduling.aggregated.usageThresholds.cpu (85%) is above LowNodeLoad.highThresholds.cpu (75%)"},
		},
		"the scheduler refuses the nodes that pods are evicted for": {
			change: func(in *Input) { in.Scheduler.Usage["cpu"] = 45 },
			want:   []string{"SchedulerNotAboveLow cpu: LoadAwareScheduling.usageThresholds.cpu (45%) is not above LowNodeLoad.lowThresholds.cpu (45%)"},
		},
		"a planner asks the scheduler": {
			change: func(in *Input) { in.Scheduler.Usage["cpu"], in.Descheduler.Planned = 45, true },
		},
		"a planner stays below the agent's threshold": {
			change: func(in *Input) { in.Agent.MemoryEvict, in.Descheduler.Planned = new(76.0), true },
		},
		"a margin that leaves nothing": {
			change: func(in *Input) {
				in.Descheduler.Planned, in.Descheduler.Margin, in.Scheduler.Usage["cpu"] = true, 30, 30
			},
			want: []string{"NoRoomForTargets cpu: LowNodeLoad.targetMarginPercent (30%) leaves nothing below LoadAwareScheduling.usageThresholds.cpu (30%)"},
		},
		"low above high": {
			change: func(in *Input) { in.Descheduler.Low["cpu"], in.Scheduler.Usage["cpu"] = 75, 0 },
			want:   []string{"LowNotBelowHigh cpu: LowNodeLoad.lowThresholds.cpu (75%) is not below LowNodeLoad.highThresholds.cpu (75%)"},
		},
		"best-effort pods are held back late": {
			change: func(in *Input) { in.Agent.CPUSuppress = new(80.0) },
			want:   []string{"SuppressAboveHigh cpu: resource-threshold-config.cpuSuppressThresholdPercent (80%) is above LowNodeLoad.highThresholds.cpu (75%)"},
		},
		"prod pods have thresholds of their own": {
			change: func(in *Input) {
				in.Descheduler.ProdHigh, in.Scheduler.Prod = percents{"cpu": 60}, percents{"cpu": 70}
			},
			want: []string{"SchedulerAboveHigh cpu: LoadAwareScheduling.prodUsageThresholds.cpu (70%) is above LowNodeLoad.prodHighThresholds.cpu (60%)"},
		},
		"deviations are compared with nothing": {
			change: func(in *Input) {
				in.Descheduler.Deviation, in.Descheduler.High, in.Scheduler.Usage["cpu"] = true, percents{"cpu": 10}, 65
			},
		},
		"without a descheduler": {
			change: func(in *Input) { in.Descheduler.Enabled, in.Scheduler.Usage["cpu"] = false, 85 },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range Check(agreeing(test.change)) {
				got = append(got, string(v.Rule)+" "+string(v.Resource)+": "+v.Message)
				if v.Cause == "" || v.Fix == "" || v.Code == "" || len(v.Operands) != 2 {
					t.Errorf("%+v lacks a part", v)
				}
				if strings.Contains(v.Fix, "%!") {
					t.Errorf("the fix is not complete: %s", v.Fix)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}
