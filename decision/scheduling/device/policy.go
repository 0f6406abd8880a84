package device

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/pluginargs"
)

// Policy is a digest of Args. It is read-only, and safe for concurrent use.
type Policy struct {
	// weights by dimension, 0 for those that do not count.
	weights [dimensions]int64
	// weight of keeping whole GPUs whole.
	fragmentation int64
	most          bool
	// matched dimensions make a share subject to templates.
	matched     [dimensions]bool
	unsupported map[GPUModel]bool
}

// DecodeArgs reads the arguments of the plugin strictly, fills in defaults and validates them. An error names every field
// that is wrong.
func DecodeArgs(object runtime.Object) (*Args, error) {
	return pluginargs.Read(object, Kind, SetDefaults, Validate)
}

// NewPolicy digests args, whose defaults must be set.
func NewPolicy(args *Args) *Policy {
	policy := &Policy{fragmentation: *args.FragmentationWeight, most: args.ScoringStrategy.Type == MostAllocated, unsupported: map[GPUModel]bool{}}
	for _, resource := range args.ScoringStrategy.Resources {
		for d, name := range dimensionNames {
			if name == extension.CanonicalResourceName(resource.Name) {
				policy.weights[d] = resource.Weight
			}
		}
	}
	for _, matched := range args.GPUSharedResourceTemplatesConfig.MatchedResources {
		for d, name := range dimensionNames {
			policy.matched[d] = policy.matched[d] || name == extension.CanonicalResourceName(matched)
		}
	}
	for _, model := range args.GPUShareUnsupportedModels {
		policy.unsupported[model] = true
	}
	return policy
}

// templateMatched is true when a share of so much must be exactly a template.
func (p *Policy) templateMatched(each *Amount) bool {
	for d, matched := range p.matched {
		if matched && each[d] > 0 {
			return true
		}
	}
	return false
}

// sharable is true when GPUs of the model may be shared.
func (p *Policy) sharable(facts *labelFacts) bool {
	return len(p.unsupported) == 0 || !p.unsupported[GPUModel{Vendor: facts.vendor, Model: facts.model}]
}

// modelKey names a model in templates.
func (f *labelFacts) modelKey() string { return fmt.Sprintf("%s-%s", f.vendor, f.model) }
