package services

import (
	"context"
	"slices"
	"time"

	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/scheduler/state/gangs"
)

// Gangs are the endpoints of Coscheduling over the state that its plugins share.
type Gangs struct{ State *gangs.View }

// Name implements Provider.
func (g Gangs) Name() string { return gang.PluginName }

// Endpoints implements Provider.
func (g Gangs) Endpoints() []Endpoint {
	return []Endpoint{
		{Path: "gangs", Answer: func(context.Context, Call) (any, error) {
			all := map[string]gangSummary{}
			for _, key := range g.State.Keys() {
				if summary, found := g.summary(key); found {
					all[key.String()] = summary
				}
			}
			return all, nil
		}},
		{Path: "gang/{namespace}/{name}", Answer: func(_ context.Context, call Call) (any, error) {
			key := gang.Key{Namespace: call.Parameter("namespace"), Name: call.Parameter("name")}
			summary, found := g.summary(key)
			if !found {
				return nil, NotFound("cannot find gang %s", key)
			}
			return summary, nil
		}},
	}
}

// gangSummary has upstream's fields. Children are listed by NAMESPACE/NAME.
type gangSummary struct {
	Name string `json:"name"`
	// WaitTime in nanoseconds.
	WaitTime               time.Duration `json:"waitTime"`
	CreateTime             time.Time     `json:"createTime"`
	Mode                   string        `json:"mode"`
	GangMatchPolicy        string        `json:"gangMatchPolicy"`
	MinRequiredNumber      int           `json:"minRequiredNumber"`
	TotalChildrenNum       int           `json:"totalChildrenNum"`
	GangGroup              []string      `json:"gangGroup"`
	Children               set           `json:"children"`
	PendingChildren        set           `json:"pendingChildren"`
	WaitingForBindChildren set           `json:"waitingForBindChildren"`
	BoundChildren          set           `json:"boundChildren"`
	OnceResourceSatisfied  bool          `json:"onceResourceSatisfied"`
	GangFrom               string        `json:"gangFrom"`
	HasGangInit            bool          `json:"hasGangInit"`
}

// set is encoded as upstream encodes one: an object of empty objects.
type set map[string]struct{}

func (g Gangs) summary(key gang.Key) (gangSummary, bool) {
	seen, known := g.State.Seen(key)
	if !known {
		return gangSummary{}, false
	}
	summary := gangSummary{
		Name: key.String(), CreateTime: seen, GangGroup: []string{},
		Children: set{}, PendingChildren: set{}, WaitingForBindChildren: set{}, BoundChildren: set{},
	}
	if spec := g.State.Spec(key); spec != nil {
		summary.WaitTime, summary.Mode, summary.GangMatchPolicy = spec.WaitTime, string(spec.Mode), string(spec.MatchPolicy)
		summary.MinRequiredNumber, summary.TotalChildrenNum = int(spec.MinMember), int(spec.TotalMember)
		summary.GangFrom, summary.HasGangInit = string(spec.Source), spec.MinMember > 0
		for _, other := range spec.Group {
			summary.GangGroup = append(summary.GangGroup, other.String())
		}
	}
	for _, standing := range g.State.Report(key).Gangs {
		summary.OnceResourceSatisfied = summary.OnceResourceSatisfied || standing.Key == key && standing.Done
	}
	for _, member := range g.State.Members(key) {
		name := member.Pod.Namespace + "/" + member.Pod.Name
		summary.Children[name] = struct{}{}
		phases := map[gang.Phase]set{gang.Pending: summary.PendingChildren, gang.Waiting: summary.WaitingForBindChildren, gang.Bound: summary.BoundChildren}
		if of := phases[member.Phase]; of != nil {
			of[name] = struct{}{}
		}
	}
	slices.Sort(summary.GangGroup)
	return summary, true
}
