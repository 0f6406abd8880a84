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
	chosen, ok := chosenFor(&in)
	if !ok {
		p.Forget(in.Node.Name)
		return overcommit.Predictions{}
	}
	node := p.node(in.Node.Name)
	node.mu.Lock()
	defer node.mu.Unlock()
	p.observe(node, &in, chosen)
	var out overcommit.Predictions
	if chosen.batch != nil {
		out.Batch = node.record.Forecast(predict.Batch, *chosen.batch, chosen.coldStart)
	}
	if chosen.mid != nil {
		out.Mid = node.record.Forecast(predict.Mid, *chosen.mid, chosen.coldStart)
	}
	return out
}

// Ahead is what the predictors of a node predict of its pods above batch, hour by hour as far as they reach.
func (p *Predictions) Ahead(in overcommit.NodeInput) []*predict.Forecast {
	chosen, ok := chosenFor(&in)
	if !ok {
		return nil
	}
	node := p.node(in.Node.Name)
	node.mu.Lock()
	defer node.mu.Unlock()
	p.observe(node, &in, chosen)
	return node.record.Outlook(chosen.batch, chosen.mid, chosen.coldStart)
}

// choice is the predictors of a node; nil for a tier without one.
type choice struct {
	batch, mid *predict.Profile
	coldStart  time.Duration
}

// chosenFor reads the choice for a node, and false where nothing is predicted. A choice that cannot be read was refused with the
// configuration.
func chosenFor(in *overcommit.NodeInput) (choice, bool) {
	strategy := &in.Strategy.Strategy
	chosen, err := strategy.Predictor()
	if err != nil || strategy.Enable == nil || !*strategy.Enable || chosen.Batch == "" && chosen.Mid == "" {
		return choice{}, false
	}
	out := choice{coldStart: time.Duration(configuration.DefaultColdStartMinutes) * time.Minute}
	if chosen.ColdStartMinutes != nil {
		out.coldStart = time.Duration(*chosen.ColdStartMinutes) * time.Minute
	}
	if profile, err := predict.ProfileNamed(chosen.Batch); err == nil {
		out.batch = &profile
	}
	if profile, err := predict.ProfileNamed(chosen.Mid); err == nil {
		out.mid = &profile
	}
	return out, true
}

// observe takes the measurement of a node, unless it is known already.
func (p *Predictions) observe(node *observed, in *overcommit.NodeInput, chosen choice) {
	for _, profile := range []*predict.Profile{chosen.batch, chosen.mid} {
		if profile != nil {
			node.record.Remember(*profile)
		}
	}
	samples, at := overcommit.MeasuredPods(*in)
	if at.After(node.at) {
		node.at = at
		p.tally(in.Strategy, node.record.Observe(at, samples))
	}
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
