package rebalance

import (
	"time"

	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// memory is what the history forbids.
type memory struct {
	loops   []loopguard.Loop
	stopped map[string]time.Time
	// left are when a workload last left a node, and arrived the first time within the cool-down that it came to one.
	left, arrived map[place]time.Time
}

// place is a workload on a node.
type place struct{ workload, node string }

// remember reads the history and what is under way.
func remember(in *Input) memory {
	m := memory{left: map[place]time.Time{}, arrived: map[place]time.Time{}}
	for _, move := range in.History {
		m.add(move, in)
	}
	for _, pending := range in.Pending {
		if move, ok := underWay(in, pending); ok {
			m.add(move, in)
		}
	}
	replicas := make(map[string]int, len(in.Workloads))
	if len(in.History) > 0 {
		for _, workload := range in.Workloads {
			replicas[workload.Key] = workload.Replicas
		}
	}
	m.loops = loopguard.Detect(loopguard.History{
		Moves: in.History, Replicas: replicas, Now: in.Now, Window: in.Args.HistoryWindow.Duration, MaxMoves: int(*in.Args.MaxMovesPerReplica),
	})
	m.stopped = loopguard.Stopped(m.loops)
	return m
}

// loopOf says in which circle a workload goes that is stopped.
func (m *memory) loopOf(workload string) string {
	for i := range m.loops {
		if loop := &m.loops[i]; loop.Workload == workload {
			return string(loop.Code) + ": " + loop.Message
		}
	}
	return ""
}

func underWay(in *Input, move Move) (loopguard.Move, bool) {
	if move.Pod < 0 || move.Pod >= len(in.Pods) || move.From < 0 || move.From >= len(in.Nodes) || in.Pods[move.Pod].Workload < 0 {
		return loopguard.Move{}, false
	}
	found := loopguard.Move{Workload: in.Workloads[in.Pods[move.Pod].Workload].Key, From: in.Nodes[move.From].Name, At: in.Now, By: loopguard.ByDescheduler}
	if move.To >= 0 && move.To < len(in.Nodes) {
		found.To = in.Nodes[move.To].Name
	}
	return found, true
}

// add a move, unless it is forgotten. A move in the future, of a clock that was set, counts as one of now.
func (m *memory) add(move loopguard.Move, in *Input) {
	at := move.At
	if at.After(in.Now) {
		at = in.Now
	}
	ago := in.Now.Sub(at)
	if move.Workload == "" || ago >= in.Args.HistoryWindow.Duration {
		return
	}
	from, to := place{move.Workload, move.From}, place{move.Workload, move.To}
	if known, ok := m.left[from]; !ok || at.After(known) {
		m.left[from] = at
	}
	if known, ok := m.arrived[to]; move.To != "" && ago < in.Args.CoolDown.Duration && (!ok || at.Before(known)) {
		m.arrived[to] = at
	}
}

// cooling is true for a pod that was moved to its node less than the cool-down ago: one that started after its workload came there.
func (m *memory) cooling(in *Input, pod *Pod) bool {
	if len(m.arrived) == 0 {
		return false
	}
	at, moved := m.arrived[place{in.Workloads[pod.Workload].Key, in.Nodes[pod.Node].Name}]
	return moved && (pod.Started.IsZero() || !pod.Started.Before(at))
}

// returns is true for a node that the workload left within the window.
func (m *memory) returns(workload, node string) bool {
	if len(m.left) == 0 {
		return false
	}
	_, left := m.left[place{workload, node}]
	return left
}
