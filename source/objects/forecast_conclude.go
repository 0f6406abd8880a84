package objects

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// conclude fills in the nodes, the pools and the sentence.
func (f *forecast) conclude() {
	for _, plugin := range f.plugins {
		after := lownodeload.Trace{}
		lownodeload.Begin(plugin.input(f, f.in.Rounds-1), &after)
		f.nodesOf(plugin, &after)
		f.poolsOf(plugin)
		f.staysOf(plugin)
		if !plugin.recalled && (plugin.stopped("is anomalous") || f.movedBy(plugin.name)) {
			f.note("how often in a row nodes were overutilized " + plugin.unrecalled() + " and is counted from 0 here: pods may move earlier")
		}
	}
	for _, planner := range f.rebalancers {
		planner.conclude(f)
	}
	if len(f.answer.Moves) > 0 {
		f.note("load is taken to stay as it is, and PodMigrationJobs to succeed before the next round; koord-scheduler chooses the node, and the arbitration of jobs may hold them back")
	}
	f.answer.Message = f.message()
}

func (f *forecast) movedBy(plugin string) bool {
	return slices.ContainsFunc(f.answer.Moves, func(move diagnosticsv1alpha1.ForecastMove) bool { return move.Plugin == plugin })
}

// unrecalled says why it is not known how often nodes were overutilized.
func (p *plannedPlugin) unrecalled() string {
	if p.name == rebalance.PluginName {
		return "is remembered by the process of koord-descheduler alone"
	}
	return "could not be read from ConfigMap " + lownodeload.HistoryConfigMap
}

func (p *plannedPlugin) stopped(because string) bool {
	return slices.ContainsFunc(p.verdict.Parts, func(part lownodeload.PartVerdict) bool { return strings.Contains(part.Stop, because) })
}

func (f *forecast) nodesOf(plugin *plannedPlugin, after *lownodeload.Trace) {
	for i := range plugin.first.Nodes {
		traced := &plugin.first.Nodes[i]
		node := diagnosticsv1alpha1.ForecastNode{
			Name: traced.Name, Profile: plugin.profile.Name, Pool: traced.Pool, Class: string(traced.Class), Problem: traced.Problem, Ended: plugin.ended[traced.Name],
		}
		if traced.Class == lownodeload.High || traced.Class == lownodeload.ProdHigh {
			node.RoundsNeeded = needed(&traced.Condition)
		}
		later, found := after.Node(traced.Name)
		if found {
			node.ClassAfter = string(later.Class)
		}
		for j, usage := range traced.Usage {
			load := loadOf(usage)
			if j < len(later.Usage) {
				load.After, load.AfterBasisPoints = later.Usage[j].Used, basisPoints(later.Usage[j].UsedPercent)
			}
			node.Resources = append(node.Resources, load)
		}
		f.answer.Nodes = append(f.answer.Nodes, node)
	}
}

// needed is how many rounds in a row a node must be overutilized.
func needed(condition *lownodeload.AnomalyCondition) int32 {
	if condition.ConsecutiveAbnormalities == 1 {
		return 1
	}
	return int32(condition.ConsecutiveAbnormalities) + 1
}

func loadOf(usage lownodeload.Comparison) diagnosticsv1alpha1.ForecastLoad {
	load := diagnosticsv1alpha1.ForecastLoad{
		Resource: string(usage.Resource), Unit: amount.UnitOf(usage.Resource), Capacity: usage.Capacity,
		Before: usage.Used, After: usage.Used, BeforeBasisPoints: basisPoints(usage.UsedPercent), AfterBasisPoints: basisPoints(usage.UsedPercent),
	}
	if usage.LowPercent >= 0 {
		load.LowBasisPoints = new(basisPoints(usage.LowPercent))
	}
	if usage.HighPercent >= 0 {
		load.HighBasisPoints = new(basisPoints(usage.HighPercent))
	}
	return load
}

func basisPoints(percent float64) int64 { return int64(math.Round(percent * 100)) }

func (f *forecast) poolsOf(plugin *plannedPlugin) {
	if *plugin.args.Paused {
		f.answer.Pools = append(f.answer.Pools, diagnosticsv1alpha1.ForecastPool{Profile: plugin.profile.Name, Stop: "the plugin is paused: its argument paused is true"})
		return
	}
	for _, part := range plugin.verdict.Parts {
		pool := diagnosticsv1alpha1.ForecastPool{
			Profile: plugin.profile.Name, Name: part.Pool, Prod: part.Prod, Underutilized: int32(part.Underutilized), Overutilized: int32(part.Overutilized),
		}
		if part.Stop != "" {
			pool.Stop = fmt.Sprintf("%s: %s", part.Stop, plugin.numbers(f, &part))
		}
		f.answer.Pools = append(f.answer.Pools, pool)
	}
}

// numbers are those behind the stop of a part in the last round.
func (p *plannedPlugin) numbers(f *forecast, part *lownodeload.PartVerdict) string {
	nodes, unknown := 0, 0
	for i := range p.last.Nodes {
		if p.last.Nodes[i].Pool == part.Pool {
			nodes++
			if p.last.Nodes[i].Class == lownodeload.Unknown {
				unknown++
			}
		}
	}
	text := fmt.Sprintf("of %d nodes, %d underutilized, %d overutilized", nodes, part.Underutilized, part.Overutilized)
	if unknown > 0 {
		text += fmt.Sprintf(", %d of unknown load", unknown)
	}
	switch {
	case strings.Contains(part.Stop, "numberOfNodes"):
		text += fmt.Sprintf("; numberOfNodes is %d", *p.args.NumberOfNodes)
	case strings.Contains(part.Stop, "is anomalous"):
		text += "; " + p.rounds(f, part)
	case part.Overutilized == 0:
		text += p.highest(part)
	}
	return text
}

// rounds says how many of the rounds that it takes were looked at.
func (p *plannedPlugin) rounds(f *forecast, part *lownodeload.PartVerdict) string {
	for i := range p.last.Nodes {
		if node := &p.last.Nodes[i]; node.Pool == part.Pool && (node.Class == lownodeload.High || node.Class == lownodeload.ProdHigh) {
			return fmt.Sprintf("it takes %d overutilized rounds in a row, and %d were looked at", needed(&node.Condition), f.in.Rounds)
		}
	}
	return fmt.Sprintf("%d rounds were looked at", f.in.Rounds)
}

// highest names for each resource the node with the highest load, beside the threshold.
func (p *plannedPlugin) highest(part *lownodeload.PartVerdict) string {
	type most struct {
		lownodeload.Comparison
		node string
	}
	var order []most
	for i := range p.last.Nodes {
		node := &p.last.Nodes[i]
		usage := node.Usage
		if part.Prod {
			usage = node.ProdUsage
		}
		for _, one := range usage {
			if node.Pool != part.Pool || one.HighPercent < 0 {
				continue
			}
			at := slices.IndexFunc(order, func(m most) bool { return m.Resource == one.Resource })
			if at < 0 {
				order = append(order, most{one, node.Name})
			} else if one.UsedPercent > order[at].UsedPercent {
				order[at] = most{one, node.Name}
			}
		}
	}
	slices.SortFunc(order, func(a, b most) int { return cmp.Compare(a.Resource, b.Resource) })
	text := ""
	for _, one := range order {
		text += fmt.Sprintf("; highest %s usage %.1f%% on %s, threshold %.0f%%", one.Resource, one.UsedPercent, one.node, one.HighPercent)
	}
	return text
}

func (f *forecast) staysOf(plugin *plannedPlugin) {
	for _, skipped := range plugin.stays {
		f.answer.Stays = append(f.answer.Stays, diagnosticsv1alpha1.ForecastStay{Namespace: skipped.Namespace, Name: skipped.Name, Node: skipped.Node, Reason: skipped.Reason})
	}
	slices.SortFunc(f.answer.Stays, func(a, b diagnosticsv1alpha1.ForecastStay) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
}

func (f *forecast) message() string {
	span := "in " + phrase.Counted(f.in.Rounds, "round")
	if f.in.Rounds > 1 {
		span += fmt.Sprintf(" (%s)", time.Duration(f.in.Rounds-1)*f.in.Descheduler.Interval)
	}
	switch {
	case len(f.plugins)+len(f.rebalancers) == 0:
		return "no plugin is enabled that is forecast"
	case len(f.answer.Moves) > 0:
		verb := "would move"
		if f.answer.DryRun {
			verb += " without dryRun"
		}
		first := f.answer.Moves[0]
		return fmt.Sprintf("%s %s %s, the first in round %d", phrase.Counted(len(f.answer.Moves), "pod"), verb, span, first.Round)
	}
	var stops []string
	for _, pool := range f.answer.Pools {
		switch {
		case pool.Stop == "":
			stops = append(stops, fmt.Sprintf("node pool %s: no pod of %s can leave", pool.Name, phrase.Counted(int(pool.Overutilized), "overutilized node")))
		case pool.Name == "":
			stops = append(stops, pool.Stop)
		default:
			stops = append(stops, fmt.Sprintf("node pool %s: %s", pool.Name, pool.Stop))
		}
	}
	if len(stops) == 0 {
		stops = []string{"no node pool has nodes and thresholds"}
	}
	return fmt.Sprintf("nothing moves %s: %s", span, strings.Join(stops, "; "))
}
