package noderesource

import (
	"strings"
	"sync"
	"time"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/core/predict"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// Predictions keeps what the pods of nodes used, where a predictor is chosen, and how the predictors do. It is safe for
// concurrent use. With 30 pods on a node it takes about 1 KB a pod, and 4.3 KB with a profile that reads a week.
type Predictions struct {
	mu    sync.Mutex
	nodes map[string]*observed
	// tallies of each pool, profile, tier and resource.
	tallies map[predicted]*predict.Tally
	// steady is what the controller found of the nodes' measurements, for explaining it.
	steady steadinessCache
}

// observed is one node.
type observed struct {
	mu     sync.Mutex
	record *predict.Record
	// at is when the last measurement that was taken was made.
	at time.Time
}

// predicted is what predictions are judged together by.
type predicted struct {
	pool, profile string
	tier          predict.Tier
	resource      predict.Resource
}

// NewPredictions returns predictions without any history.
func NewPredictions() *Predictions {
	return &Predictions{nodes: map[string]*observed{}, tallies: map[predicted]*predict.Tally{}}
}

// Of observes a node, unless its measurement is known already, and returns what is predicted of its pods. Where no predictor
// is chosen the node is forgotten.
func (p *Predictions) Of(in overcommit.NodeInput) overcommit.Predictions {
	strategy := &in.Strategy.Strategy
	chosen, err := strategy.Predictor()
	enabled := strategy.Enable != nil && *strategy.Enable
	if err != nil || !enabled || chosen.Batch == "" && chosen.Mid == "" {
		// A choice that cannot be read was refused with the configuration.
		p.Forget(in.Node.Name)
		return overcommit.Predictions{}
	}
	node := p.node(in.Node.Name)
	node.mu.Lock()
	defer node.mu.Unlock()
	profiles := map[predict.Tier]predict.Profile{}
	for tier, name := range map[predict.Tier]string{predict.Batch: chosen.Batch, predict.Mid: chosen.Mid} {
		if profile, err := predict.ProfileNamed(name); err == nil {
			profiles[tier] = profile
			node.record.Remember(profile)
		}
	}
	samples, at := overcommit.MeasuredPods(in)
	if at.After(node.at) {
		node.at = at
		p.tally(in.Strategy, node.record.Observe(at, samples))
	}
	cold := time.Duration(configuration.DefaultColdStartMinutes) * time.Minute
	if chosen.ColdStartMinutes != nil {
		cold = time.Duration(*chosen.ColdStartMinutes) * time.Minute
	}
	var out overcommit.Predictions
	for tier, into := range map[predict.Tier]**predict.Forecast{predict.Batch: &out.Batch, predict.Mid: &out.Mid} {
		if profile, ok := profiles[tier]; ok {
			*into = node.record.Forecast(tier, profile, cold)
		}
	}
	return out
}

// Forget drops what is known of a node.
func (p *Predictions) Forget(node string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.nodes, node)
}

func (p *Predictions) node(name string) *observed {
	p.mu.Lock()
	defer p.mu.Unlock()
	node, ok := p.nodes[name]
	if !ok {
		node = &observed{record: predict.NewRecord()}
		p.nodes[name] = node
	}
	return node
}

// tally counts how predictions did for the pool that the node is in now.
func (p *Predictions) tally(strategy configmerge.Merged, over []predict.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, outcome := range over {
		if outcome.Limits <= 0 {
			continue
		}
		key := predicted{poolOf(strategy.Settings, outcome.Tier), outcome.Profile, outcome.Tier, outcome.Resource}
		if p.tallies[key] == nil {
			p.tallies[key] = &predict.Tally{}
		}
		p.tallies[key].Add(outcome.Predicted, outcome.Peak, outcome.Limits)
	}
}

// scores are how the predictors did since the start.
func (p *Predictions) scores() map[predicted]predict.Score {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[predicted]predict.Score, len(p.tallies))
	for key, tally := range p.tallies {
		out[key] = tally.Score()
	}
	return out
}

// poolOf names the nodes that a predictor was chosen for: the node strategy that chose it, or the cluster.
func poolOf(settings []diagnosticsv1alpha1.Setting, tier predict.Tier) string {
	key := "extensions." + configuration.PredictorExtension + "." + string(tier)
	for i := range settings {
		if settings[i].Key == key {
			return strings.TrimPrefix(settings[i].Layer, "node strategy ")
		}
	}
	return configmerge.LayerCluster
}
