package networktopology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Plan says where members go. The zero value is no plan.
type Plan struct {
	Code   finding.Code
	Reason string
	// Layer and Domain that all members are in.
	Layer  schedulingv1alpha1.TopologyLayer
	Domain string
	// Members get these nodes; members that stand together go to the same part of the domain.
	Members []string
	// Nodes of the domain with room.
	Nodes []string
	// Must is true when members may not be placed outside of the domain.
	Must bool
	// Best is, without a plan, for how many members the best domain has room.
	Best int
}

// Found is true when there is a plan.
func (p Plan) Found() bool { return p.Code == "" }

// Beginnings of reasons.
const (
	beginUnsatisfied = "no domain of network layer "
	beginInvalid     = "network topology: "
)

// CodeOf returns the code of a Plan's reason, empty for any other text.
func CodeOf(reason string) finding.Code {
	switch {
	case strings.HasPrefix(reason, beginUnsatisfied):
		return finding.GangTopologyUnsatisfied
	case strings.HasPrefix(reason, beginInvalid):
		return finding.GangTopologyInvalid
	}
	return ""
}

// Invalid is the plan for a network, or for rules, that cannot be read.
func Invalid(err error) Plan { return Plan{Code: finding.GangTopologyInvalid, Reason: err.Error()} }

// rules by layer.
type rules struct {
	multiple []int
	// named layers, the deepest first; must is the deepest with MustGather, 0 when there is none.
	named []int
	must  int
}

// Place plans for as many members as there is room for, and never for fewer than needed. Without a MustGather rule the whole
// cluster is the last domain that is tried. A nil trace records nothing.
func Place(in Input, trace *Trace) Plan {
	rules, err := in.rules()
	if err != nil {
		return Invalid(err)
	}
	root := buildTree(in.Layers, in.Nodes)
	total := 0
	for i := range in.Nodes {
		total += in.Nodes[i].Members
	}
	rules.sum(root)
	best := 0
	for _, depth := range rules.named {
		domains := at(root, depth)
		for _, domain := range domains {
			trace.considered(domain, total)
			if !(rules.must > 0 && domain.Members < total) {
				best = max(best, domain.Slots)
			}
		}
		for count := in.Wanted; count >= max(in.Needed, 1); count-- {
			if plan, found := rules.choose(domains, count, total, in.Layers); found {
				return plan
			}
		}
	}
	return Plan{
		Code: finding.GangTopologyUnsatisfied, Must: true, Best: best,
		Reason: fmt.Sprintf(beginUnsatisfied+"%s has room for %d members together, the best has for %d", in.Layers[rules.named[len(rules.named)-1]].Name, in.Needed, best),
	}
}

// rules reads the rules of a gang. A layer that the network does not have is an error.
func (in *Input) rules() (*rules, error) {
	r := &rules{multiple: make([]int, len(in.Layers))}
	for _, rule := range in.Rules {
		depth := in.Layers.index(rule.Layer)
		if depth < 0 {
			return nil, fmt.Errorf(beginInvalid+"there is no layer %q", rule.Layer)
		}
		if rule.PodCountMultiple < 0 {
			return nil, fmt.Errorf(beginInvalid+"podCountMultiple %d of layer %q is negative", rule.PodCountMultiple, rule.Layer)
		}
		r.multiple[depth] = rule.PodCountMultiple
		switch rule.Strategy {
		case extension.NetworkTopologyGatherStrategyMustGather:
			r.must = max(r.must, depth)
		case extension.NetworkTopologyGatherStrategyPreferGather:
		default:
			return nil, fmt.Errorf(beginInvalid+"strategy %q of layer %q is unknown", rule.Strategy, rule.Layer)
		}
		r.named = append(r.named, depth)
	}
	// Layers above the one where members must gather would allow them to be apart.
	r.named = slices.DeleteFunc(r.named, func(depth int) bool { return depth < r.must })
	r.named = append(r.named, r.must)
	slices.SortFunc(r.named, func(a, b int) int { return b - a })
	r.named = slices.Compact(r.named)
	return r, nil
}

// sum adds up slots and members from the nodes, and takes off what multiples do not allow.
func (r *rules) sum(domain *Domain) {
	for i, child := range domain.Children {
		r.sum(child)
		domain.Slots += child.Slots
		domain.Members += child.Members
		if i == 0 || child.Score > domain.Score {
			domain.Score = child.Score
		}
	}
	domain.Slots = r.allowed(domain, domain.Slots)
}

// allowed is the largest number of new members, up to a limit, with which the members of a domain are a multiple.
func (r *rules) allowed(domain *Domain, limit int) int {
	multiple := r.multiple[domain.depth]
	if multiple < 2 {
		return max(limit, 0)
	}
	return max((domain.Members+limit)/multiple*multiple-domain.Members, 0)
}

// at returns the domains of a layer.
func at(domain *Domain, depth int) []*Domain {
	if domain.depth == depth {
		return []*Domain{domain}
	}
	var list []*Domain
	for _, child := range domain.Children {
		list = append(list, at(child, depth)...)
	}
	return list
}

// choose takes the best domain that can take that many members: the one with the most members already, then the one that they
// fill best, then the better score.
func (r *rules) choose(domains []*Domain, count, total int, layers Layers) (Plan, bool) {
	fitting := slices.DeleteFunc(slices.Clone(domains), func(domain *Domain) bool {
		return domain.Slots < count || r.allowed(domain, count) != count || r.must > 0 && domain.Members < total
	})
	slices.SortFunc(fitting, func(a, b *Domain) int {
		return cmp.Or(cmp.Compare(b.Members, a.Members), cmp.Compare(a.Slots, b.Slots), cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name))
	})
	for _, domain := range fitting {
		if members, complete := r.distribute(domain, count, len(layers)-1, nil); complete {
			return Plan{Layer: domain.Layer, Domain: domain.Name, Members: members, Nodes: open(domain, len(layers)-1, nil), Must: r.must > 0}, true
		}
	}
	return Plan{}, false
}

// distribute gives members to the parts of a domain, those with the most slots first, in multiples where the rules ask for
// them. It returns false when they do not come out even.
func (r *rules) distribute(domain *Domain, count, leaf int, into []string) ([]string, bool) {
	if domain.depth == leaf {
		name := nodeName(domain)
		for range count {
			into = append(into, name)
		}
		return into, true
	}
	children := slices.Clone(domain.Children)
	slices.SortFunc(children, func(a, b *Domain) int {
		return cmp.Or(cmp.Compare(b.Slots, a.Slots), cmp.Compare(b.Members, a.Members), cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name))
	})
	for _, child := range children {
		if count == 0 {
			break
		}
		part := r.allowed(child, min(child.Slots, count))
		if part == 0 {
			continue
		}
		placed, complete := r.distribute(child, part, leaf, into)
		if !complete {
			continue
		}
		into, count = placed, count-part
	}
	return into, count == 0
}

// open lists the nodes of a domain that have room.
func open(domain *Domain, leaf int, into []string) []string {
	if domain.depth == leaf {
		if domain.Slots > 0 {
			into = append(into, nodeName(domain))
		}
		return into
	}
	for _, child := range domain.Children {
		into = open(child, leaf, into)
	}
	return into
}

func nodeName(domain *Domain) string {
	for i := len(domain.Name) - 1; i >= 0; i-- {
		if domain.Name[i] == '/' {
			return domain.Name[i+1:]
		}
	}
	return domain.Name
}
