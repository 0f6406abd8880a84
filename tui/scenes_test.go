package tui

import (
	"errors"
	"testing"
	"time"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/tui/internal/fixture"
)

var errUnreachable = finding.Wrap(errors.New(`list nodes: dial tcp 127.0.0.1:6443: connect: connection refused`),
	finding.ClusterUnreachable, "koordctl sandbox up")

var errPlain = errors.New("list nodes: the answer is no JSON")

var missing = []string{
	`nodemetrics: forbidden: user "dev" may not list nodemetrics.slo.koordinator.sh at the cluster scope`,
	`pods: forbidden: user "dev" may not list pods at the cluster scope`,
}

// scenes are every view in every state it can be in.
var scenes = map[string]func(testing.TB) *rig{
	"nodes":            func(t testing.TB) *rig { return newRig(t, 30).start() },
	"dashboard":        func(t testing.TB) *rig { return newRig(t, 30).start().press(":dashboard", "enter") },
	"dashboard_memory": func(t testing.TB) *rig { return newRig(t, 30).start().press(":dashboard", "enter", "tab", "j", "j") },
	"dashboard_empty":  func(t testing.TB) *rig { return newRig(t, 0).start().press(":dashboard", "enter") },
	"dashboard_loading": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.hold = true
		return r.press(":dashboard", "enter")
	},
	"dashboard_partial": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.Missing = missing
		return r.start().press(":dashboard", "enter")
	},
	"why_several": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.m.source = &catalogued{Scripted: r.src, objects: catalogue}
		return r.start().press(":why twice", "enter")
	},
	"why_nothing": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.m.source = &catalogued{Scripted: r.src, objects: catalogue}
		return r.start().press(":why nothing", "enter")
	},
	"checks":     func(t testing.TB) *rig { return newRig(t, 30).start().press(":checks", "enter") },
	"checks_all": func(t testing.TB) *rig { return newRig(t, 30).start().press(":checks", "enter", "enter") },
	"checks_partial": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.Missing = missing
		return r.start().press(":checks", "enter")
	},
	"nodes_blank": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.hold = true
		return r.start()
	},
	"nodes_loading": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.hold = true
		r.start()
		r.pass(3 * time.Second)
		return r
	},
	"nodes_empty": func(t testing.TB) *rig { return newRig(t, 0).start() },
	"nodes_partial": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.Missing = missing
		return r.start()
	},
	"nodes_stale": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.src.Err = errUnreachable
		r.pass(45 * time.Second)
		return r
	},
	"nodes_error": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.Err = errUnreachable
		return r.start()
	},
	"nodes_filtered": func(t testing.TB) *rig { return newRig(t, 30).start().press("/00[01].*normal", "enter", "C") },
	"nodes_nomatch":  func(t testing.TB) *rig { return newRig(t, 30).start().press("/nothing", "enter") },
	"nodes_problems": func(t testing.TB) *rig { return newRig(t, 30).start().press("ctrl+z", "ctrl+w", "S") },
	"nodes_command":  func(t testing.TB) *rig { return newRig(t, 30).start().press(":node node-000") },
	"nodes_flash":    func(t testing.TB) *rig { return newRig(t, 30).start().press(":nodse", "enter") },
	"pods":           func(t testing.TB) *rig { return newRig(t, 30).start().press(":pods", "enter", "S") },
	"pods_empty":     func(t testing.TB) *rig { return newRig(t, 30).start().press(":ns nowhere", "enter") },
	"pods_partial": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.Missing = missing[1:]
		return r.start().press(":pods shop", "enter")
	},
	"pods_error": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.src.Err = finding.Wrap(errors.New(`list pods: forbidden: user "dev" may not list pods at the cluster scope`), finding.Forbidden, "kubectl auth can-i list pods -A")
		return r.press(":pods", "enter")
	},
	"config":         func(t testing.TB) *rig { return writable(t).press(":config", "enter") },
	"config_edit":    func(t testing.TB) *rig { return writable(t).press(":config", "enter", "j", "e") },
	"config_refused": func(t testing.TB) *rig { return writable(t).press(":config", "enter", "j", "e").value("much") },
	"config_problems": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":cfg", "enter", "ctrl+z")
	},
	"config_set":     func(t testing.TB) *rig { return newRig(t, 30).start().press(":cfg", "enter", "tab", "L") },
	"config_missing": func(t testing.TB) *rig { return newRig(t, 0).start().press(":config", "enter") },
	"config_help":    func(t testing.TB) *rig { return newRig(t, 30).helpOf(":config") },
	"setting":        func(t testing.TB) *rig { return writable(t).press(":config", "enter", "j", "x") },
	"setting_unset": func(t testing.TB) *rig {
		return writable(t).press(":setting resource-threshold-config.cpuEvictBESatisfactionLowerPercent", "enter")
	},
	"plan": func(t testing.TB) *rig { return writable(t).planned("60") },
	"plan_nodes": func(t testing.TB) *rig {
		return writable(t).planned("60").press("enter", "ctrl+f")
	},
	"plan_confirm":     func(t testing.TB) *rig { return writable(t).planned("60").press("a") },
	"plan_read_only":   func(t testing.TB) *rig { return newRig(t, 30).start().press(":plan "+reclaim+"=60", "enter") },
	"plan_errors":      func(t testing.TB) *rig { return writable(t).press(":plan "+reclaim+"=900", "enter") },
	"plan_unchanged":   func(t testing.TB) *rig { return writable(t).press(":plan "+reclaim+"=70", "enter") },
	"plan_conflict":    func(t testing.TB) *rig { return writable(t).planned("60").rival("55").press("a", "y") },
	"whatif":           func(t testing.TB) *rig { return writable(t).planned("60").press("w") },
	"workloads":        func(t testing.TB) *rig { return newRig(t, 30).start().press(":workloads", "enter") },
	"workers":          func(t testing.TB) *rig { return newRig(t, 30).start().press(":workers", "enter", "S") },
	"workers_wide":     func(t testing.TB) *rig { return newRig(t, 30).start().press(":ew shop", "enter", "ctrl+w") },
	"workers_problems": func(t testing.TB) *rig { return newRig(t, 30).start().press(":elasticworkers", "enter", "ctrl+z", "A") },
	"workers_selected": func(t testing.TB) *rig { return newRig(t, 30).start().press(":workers /-l engine=spark", "enter") },
	"workers_none":     func(t testing.TB) *rig { return newRig(t, 30).start().press(":workers nowhere", "enter") },
	"workers_not_installed": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.src.Err = finding.Wrap(errors.New("list elasticworkers.scheduling.koordinator.sh: the server doesn't have this resource type"), finding.NotInstalled, "koordctl install")
		return r.press(":workers", "enter")
	},
	"engine":             func(t testing.TB) *rig { return newRig(t, 30).start().press(":engine shop/trino", "enter") },
	"engine_end":         func(t testing.TB) *rig { return newRig(t, 30).start().press(":engine shop/trino", "enter", "G") },
	"engine_refused":     func(t testing.TB) *rig { return newRig(t, 30).start().press(":engine analytics/presto", "enter") },
	"engine_unknown":     func(t testing.TB) *rig { return newRig(t, 30).start().press(":engine shop/nope", "enter") },
	"engine_timeline":    func(t testing.TB) *rig { return newRig(t, 30).start().press(":engine shop/trino", "enter", "e") },
	"workloads_wide":     func(t testing.TB) *rig { return newRig(t, 30).start().press(":wl shop", "enter", "ctrl+w", "I") },
	"workloads_problems": func(t testing.TB) *rig { return newRig(t, 30).start().press(":wl", "enter", "ctrl+z", "W") },
	"workloads_pods":     func(t testing.TB) *rig { return newRig(t, 30).start().press(":wl", "enter", "G", "enter") },
	"workloads_empty":    func(t testing.TB) *rig { return newRig(t, 30).start().press(":workloads nowhere", "enter") },
	"workloads_partial": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.Missing = []string{`nodemetrics: forbidden: user "dev" may not list nodemetrics.slo.koordinator.sh at the cluster scope: what is used is unknown`}
		r.src.Source = limited{Source: r.src.Source, nodes: true, pods: true, context: "shop"}
		return r.start().press(":workloads", "enter")
	},
	"workloads_forbidden": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.src.Err = notPermitted("list pods")
		return r.press(":workloads", "enter")
	},
	"node":          func(t testing.TB) *rig { return newRig(t, 30).start().press("enter", "enter") },
	"node_degraded": func(t testing.TB) *rig { return newRig(t, 30).start().press(":node node-0011", "enter") },
	"node_mid":      func(t testing.TB) *rig { return newRig(t, 30).start().press("enter", "tab", "tab") },
	"node_pods":     func(t testing.TB) *rig { return newRig(t, 30).start().press("p", "j") },
	"node_settings": func(t testing.TB) *rig { return newRig(t, 30).start().press("enter", "shift+tab") },
	"node_agent":    func(t testing.TB) *rig { return newRig(t, 30).start().press("enter", "a") },
	"node_agent_error": func(t testing.TB) *rig {
		r := newRig(t, 30).start().press("enter")
		r.src.Err = errUnreachable
		return r.press("a")
	},
	"node_unknown": func(t testing.TB) *rig { return newRig(t, 30).start().press(":node nope", "enter") },
	"node_partial": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.Missing = missing[:1]
		return r.start().press("enter")
	},
	"pod_too_big": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":explain shop/search-reindex-0", "enter", "enter")
	},
	"pod_selector": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":explain analytics/spark-driver-0", "enter")
	},
	"pod_bound": func(t testing.TB) *rig { return newRig(t, 30).start().press(":explain shop/search-0003", "enter") },
	"timeline": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":events shop/search-reindex-0", "enter")
	},
	"timeline_expanded": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":pods /search-reindex", "enter", "e", "enter")
	},
	"timeline_forgotten": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":timeline analytics/spark-driver-0", "enter")
	},
	"timeline_evicted": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":explain analytics/spark-exec-0004", "enter", "e")
	},
	"timeline_moved": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":events shop/checkout-0004", "enter", "G")
	},
	"timeline_unknown": func(t testing.TB) *rig { return newRig(t, 30).start().press(":events shop/nope", "enter") },
	"timeline_partial": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.Missing = []string{`events: forbidden: user "dev" may not list events in namespace "shop": the events of the pod are unknown`}
		return r.start().press(":events shop/catalog-0003", "enter")
	},
	"timeline_forbidden": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.src.Err = notPermitted("get pods")
		return r.press(":events shop/catalog-0003", "enter")
	},
	"nodes_fuzzy":    func(t testing.TB) *rig { return newRig(t, 30).start().press("/-f de2", "enter") },
	"nodes_selected": func(t testing.TB) *rig { return newRig(t, 30).start().press("/-l pool in (gpu)", "enter") },
	"nodes_selecting": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.hold = true
		r.press("/-l pool=gpu", "enter")
		r.pass(2 * time.Second)
		return r
	},
	"nodes_selected_error": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.src.Err = errUnreachable
		return r.press("/-l pool=gpu", "enter")
	},
	"nodes_marked": func(t testing.TB) *rig { return newRig(t, 30).start().press("shift+right", "shift+right") },
	"nodes_prompt": func(t testing.TB) *rig { return newRig(t, 30).start().press("/-l pool==") },
	"node_memory":  func(t testing.TB) *rig { return newRig(t, 30).start().press("enter", "tab") },
	"describe_node": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":describe node-0004", "enter")
	},
	"describe_stale_node": func(t testing.TB) *rig { return newRig(t, 30).start().press(":describe node-0011", "enter") },
	"describe_pod":        func(t testing.TB) *rig { return newRig(t, 30).start().press(":pods", "enter", "d") },
	"describe_pending":    func(t testing.TB) *rig { return newRig(t, 30).start().press(":d shop/search-reindex-0", "enter") },
	"describe_unknown":    func(t testing.TB) *rig { return newRig(t, 30).start().press(":d shop/nope", "enter") },
	"describe_loading": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.hold = true
		r.press("d")
		r.pass(3 * time.Second)
		return r
	},
	"describe_partial": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.Missing = missing
		return r.start().press("d")
	},
	"describe_stale": func(t testing.TB) *rig {
		r := newRig(t, 30).start().press("d")
		r.src.Err = errUnreachable
		r.pass(45 * time.Second)
		return r
	},
	"yaml_node": func(t testing.TB) *rig { return newRig(t, 30).start().press("y") },
	"yaml_pod": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":explain shop/search-reindex-0", "enter", "y", "ctrl+f")
	},
	"yaml_object": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.m.source = &fixture.Objects{Source: r.src}
		return r.start().press(":pods", "enter", "y")
	},
	"yaml_error": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.src.Err = errUnreachable
		return r.press("y")
	},
	"long_way": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":pods", "enter", ":d analytics/report-0003", "enter", "enter", "n", "v")
	},
	"pod_unknown": func(t testing.TB) *rig { return newRig(t, 30).start().press(":explain shop/nope", "enter") },
	"chart": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.pass(150 * time.Second)
		return r.press(":chart", "enter")
	},
	"chart_node": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.pass(20 * time.Second)
		return r.press("v", "tab", "j")
	},
	"chart_stale_node": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.pass(20 * time.Second)
		return r.press(":chart node-0011", "enter")
	},
	"chart_no_past": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.AllSilent = true
		r.start().pass(20 * time.Second)
		return r.press("v")
	},
	"chart_gone_node": func(t testing.TB) *rig { return newRig(t, 30).start().press(":chart nope", "enter") },
	"migrations":      func(t testing.TB) *rig { return newRig(t, 30).start().press(":migrations", "enter") },
	"migrations_wide": func(t testing.TB) *rig { return newRig(t, 30).start().press(":pmj", "enter", "ctrl+w", "j", "j", "j") },
	"migrations_problems": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":pmj", "enter", "ctrl+z", "S")
	},
	"migrations_not_installed": func(t testing.TB) *rig {
		r := newRig(t, 30).start()
		r.src.Err = finding.Wrap(errors.New("list podmigrationjobs.scheduling.koordinator.sh: the server doesn't have this resource type"), finding.NotInstalled, "koordctl install")
		return r.press(":migrations", "enter")
	},
	"migration": func(t testing.TB) *rig { return newRig(t, 30).start().press(":migration hot-4-a", "enter") },
	"migration_conditions": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":migration hot-4-b", "enter", "enter", "G")
	},
	"migration_ended":   func(t testing.TB) *rig { return newRig(t, 30).start().press(":migration hot-4-f", "enter") },
	"migration_unknown": func(t testing.TB) *rig { return newRig(t, 30).start().press(":migration nope", "enter") },
	"describe_migration": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":describe migration hot-4-b", "enter")
	},
	"quotas":                func(t testing.TB) *rig { return newRig(t, 30).start().press(":quotas", "enter") },
	"quotas_memory":         func(t testing.TB) *rig { return newRig(t, 30).start().press(":eq", "enter", "tab", "ctrl+w") },
	"quotas_problems":       func(t testing.TB) *rig { return newRig(t, 30).start().press(":quotas", "enter", "ctrl+z", "S") },
	"quotas_none":           func(t testing.TB) *rig { return newRig(t, 0).start().press(":quotas", "enter") },
	"quota":                 func(t testing.TB) *rig { return newRig(t, 30).start().press(":quota quotas/spark", "enter") },
	"quota_invalid":         func(t testing.TB) *rig { return newRig(t, 30).start().press(":quota quotas/typo", "enter") },
	"quota_unknown":         func(t testing.TB) *rig { return newRig(t, 30).start().press(":quota quotas/nope", "enter") },
	"reservations":          func(t testing.TB) *rig { return newRig(t, 30).start().press(":reservations", "enter") },
	"reservations_wide":     func(t testing.TB) *rig { return newRig(t, 30).start().press(":resv", "enter", "ctrl+w", "G") },
	"reservations_problems": func(t testing.TB) *rig { return newRig(t, 30).start().press(":resv", "enter", "ctrl+z", "S") },
	"reservation":           func(t testing.TB) *rig { return newRig(t, 30).start().press(":reservation search", "enter") },
	"reservation_blocked": func(t testing.TB) *rig {
		r := newRig(t, 30).start().press(":reservations", "enter", "enter")
		r.pass(3 * time.Second)
		return r
	},
	"reservation_unknown": func(t testing.TB) *rig { return newRig(t, 30).start().press(":reservation nope", "enter") },
	"gangs":               func(t testing.TB) *rig { return newRig(t, 30).start().press(":gangs", "enter", "G") },
	"gangs_problems":      func(t testing.TB) *rig { return newRig(t, 30).start().press(":pg", "enter", "ctrl+z", "ctrl+w", "S") },
	"gang":                func(t testing.TB) *rig { return newRig(t, 30).start().press(":gang ml/tune", "enter") },
	"gang_lost":           func(t testing.TB) *rig { return newRig(t, 30).start().press(":gang ml/lost", "enter") },
	"gang_unknown":        func(t testing.TB) *rig { return newRig(t, 30).start().press(":gang ml/nope", "enter") },
	"devices":             func(t testing.TB) *rig { return newRig(t, 30).start().press(":devices", "enter") },
	"devices_rdma":        func(t testing.TB) *rig { return newRig(t, 30).start().press(":gpus", "enter", "tab") },
	"devices_problems":    func(t testing.TB) *rig { return newRig(t, 30).start().press(":dev", "enter", "ctrl+z", "S") },
	"devices_none":        func(t testing.TB) *rig { return newRig(t, 0).start().press(":devices", "enter") },
	"device":              func(t testing.TB) *rig { return newRig(t, 30).start().press(":device node-0003", "enter") },
	"device_stray":        func(t testing.TB) *rig { return newRig(t, 30).start().press(":device node-0009", "enter") },
	"device_unknown":      func(t testing.TB) *rig { return newRig(t, 30).start().press(":device node-0001", "enter") },
	"forecast":            func(t testing.TB) *rig { return newRig(t, 30).start().press(":migrations", "enter", "f") },
	"forecast_none":       func(t testing.TB) *rig { return newRig(t, 5).start().press(":forecast", "enter") },
	"drain":               func(t testing.TB) *rig { return newRig(t, 30).start().press(":drain node-0006", "enter") },
	"drain_cluster":       func(t testing.TB) *rig { return newRig(t, 30).start().press(":drain node-0006", "enter", "tab") },
	"drain_several": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":drain node-0006 node-0013", "enter", "ctrl+w", "G")
	},
	"drain_problems": func(t testing.TB) *rig {
		return newRig(t, 30).start().press("G", "k", "k", "w", "ctrl+z", "j")
	},
	"drain_none": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.Source = vacant{r.src.Source}
		return r.start().press(":drain node-0020", "enter")
	},
	"drain_unknown": func(t testing.TB) *rig { return newRig(t, 30).start().press(":drain nope", "enter") },
	"drain_again_error": func(t testing.TB) *rig {
		r := newRig(t, 30).start().press(":drain node-0006", "enter")
		r.pass(7 * time.Minute)
		r.src.Err = errUnreachable
		r.press("ctrl+r").pass(6 * time.Second)
		return r
	},
	"capacity": func(t testing.TB) *rig { return newRig(t, 30).start().press(":capacity shop/search-0003", "enter") },
	"capacity_nodes": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":pods", "enter", "/search-0003", "enter", "w", "enter", "G")
	},
	"capacity_many": func(t testing.TB) *rig { return newRig(t, 30).start().press(":capacity shop/catalog-0003", "enter") },
	"capacity_full": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":explain analytics/spark-driver-0", "enter", "w")
	},
	"capacity_unknown": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.Source = unasked{r.src.Source}
		r.src.Missing = []string{"koord-scheduler did not respond: connection refused; where pods go is unknown"}
		return r.start().press(":capacity shop/search-0003", "enter")
	},
	"capacity_no_pod": func(t testing.TB) *rig { return newRig(t, 30).start().press(":capacity shop/nope", "enter") },
	"scale": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":scale shop/deployment/search 80", "enter")
	},
	"scale_partial": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":scale shop/deploy/search 130", "enter", "enter")
	},
	"scale_down": func(t testing.TB) *rig {
		return newRig(t, 30).start().press(":scale shop/deployment/search 20", "enter")
	},
	"help": func(t testing.TB) *rig { return newRig(t, 30).start().press("?").helpOnly() },
	"help_partial": func(t testing.TB) *rig {
		r := newRig(t, 30)
		r.src.Missing = missing
		return r.start().press("p", "?", "G").helpOnly()
	},
}
