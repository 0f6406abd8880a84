package kubectlplugin

import (
	"slices"

	"github.com/spf13/cobra"

	"koordinator.sh/koord/source"
)

// noun is one kind of object that the command line knows, and its adapter: one constructor per verb that applies to it. Subcommands,
// aliases, completion, usage texts and docs/commands.md are derived from it.
type noun struct {
	source.Kind
	// top lists objects of the kind with what they offer, request and use.
	top adapter
	// tree draws objects of the kind with those below them.
	tree adapter
	// explain answers why one object is as it is.
	explain adapter
	// qos explains what is set for the object on its node.
	qos adapter
	// audit shows what was done to the object.
	audit adapter
	// events tells what happened to the object.
	events adapter
	// verify compares what is published of objects of the kind with what follows from the cluster.
	verify adapter
}

// adapter makes the command of a verb for one kind; nil where the verb does not apply.
type adapter func(*session) *cobra.Command

// nouns are all kinds that the command line knows, in the order in which help lists them.
func nouns() []noun {
	all := []noun{
		{Kind: source.KindNode, top: newTopNodesCommand, explain: newExplainNodeCommand, audit: newAuditNodeCommand, events: newEventsObjectCommand(source.KindNode)},
		{Kind: source.KindPod, top: newTopPodsCommand, explain: newExplainPodCommand, qos: newExplainQoSPodCommand, events: newEventsPodCommand},
		{Kind: source.KindJob, explain: newExplainJobCommand, events: newEventsObjectCommand(source.KindJob)},
		{Kind: source.KindWorkload, top: newTopWorkloadsCommand},
		{Kind: source.KindReservation, explain: newExplainReservationCommand, tree: newTreeReservationCommand, events: newEventsObjectCommand(source.KindReservation)},
		{Kind: source.KindRecommendation, top: newTopRecommendationsCommand, explain: newExplainRecommendationCommand, events: newEventsObjectCommand(source.KindRecommendation)},
		{Kind: source.KindWorkers, top: newTopWorkersCommand, explain: newExplainWorkersCommand, events: newEventsObjectCommand(source.KindWorkers)},
		{Kind: source.KindMigration, explain: newExplainMigrationCommand, events: newEventsObjectCommand(source.KindMigration)},
		{Kind: source.KindQuota, top: newTopQuotasCommand, explain: newExplainQuotaCommand, tree: newTreeQuotaCommand, events: newEventsObjectCommand(source.KindQuota), verify: newVerifyQuotasCommand},
		{Kind: source.KindDevice, top: newTopDevicesCommand},
		{Kind: source.KindGang, explain: newExplainGangCommand, tree: newTreeGangCommand, events: newEventsObjectCommand(source.KindGang)},
	}
	for _, kind := range source.ExplainedWorkloads {
		all = append(all, noun{Kind: kind, explain: newExplainWorkloadCommand(kind), events: newEventsObjectCommand(kind)})
	}
	return all
}

// verb is a command whose subcommands are nouns.
type verb struct {
	name string
	of   func(noun) adapter
}

// verbs are the commands whose subcommands are nouns; each noun must have at least one of them.
func verbs() []verb {
	return []verb{
		{topCommand, tops}, {treeCommand, trees}, {explainCommand, explains}, {explainCommand + " " + qosCommand, explainsQoS}, {auditCommand, audits}, {eventsCommand, timelines},
		{verifyCommand, verifies},
	}
}

// The adapters of a noun for each verb.
func tops(n noun) adapter        { return n.top }
func trees(n noun) adapter       { return n.tree }
func explains(n noun) adapter    { return n.explain }
func explainsQoS(n noun) adapter { return n.qos }
func audits(n noun) adapter      { return n.audit }
func timelines(n noun) adapter   { return n.events }
func verifies(n noun) adapter    { return n.verify }

// addNouns adds the subcommands of a verb, one for each noun that it applies to, and completes TYPE/NAME.
func addNouns(cmd *cobra.Command, s *session, of func(noun) adapter) {
	for _, n := range nouns() {
		if adapter := of(n); adapter != nil {
			cmd.AddCommand(adapter(s))
		}
	}
	cmd.ValidArgsFunction = completeTyped(s)
}

// kindsOf are the kinds that a verb applies to.
func kindsOf(of func(noun) adapter) []source.Kind {
	var kinds []source.Kind
	for _, n := range nouns() {
		if of(n) != nil {
			kinds = append(kinds, n.Kind)
		}
	}
	return kinds
}

// singular are the names of kinds in the singular.
func singular(kinds []source.Kind) []string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.Name
	}
	return names
}

// plural are the names of kinds in the plural.
func plural(kinds []source.Kind) []string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.Many()
	}
	return names
}

// kindOf is the kind that a word of a command line names.
func kindOf(word string) (kind source.Kind, known bool) {
	for _, n := range nouns() {
		if slices.Contains(n.Words(), word) {
			return n.Kind, true
		}
	}
	return source.Kind{}, false
}

// namesKind says whether a word of a command line names a kind.
func namesKind(word string) bool {
	_, known := kindOf(word)
	return known
}

// isWordFor says whether a word of a command line names this kind.
func isWordFor(kind source.Kind, word string) bool { return slices.Contains(kind.Words(), word) }
