package quota

import (
	"math/big"
	"sort"

	corev1 "k8s.io/api/core/v1"
)

// oracle computes runtimes of one resource the slow way: everything from the specs and the pods, in unbounded integers,
// one quota after the other.
type oracle struct {
	options  Options
	resource corev1.ResourceName
	// total of the tree.
	total    *big.Int
	specs    map[string]*Spec
	holdings map[string][]Holding
	result   map[string]*big.Int
}

// unlimited is what sums beyond it count as.
var unlimited = big.NewInt(Unlimited)

func (o *oracle) children(parent string) []string {
	var names []string
	for name, spec := range o.specs {
		if spec.Parent == parent {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

func (o *oracle) amount(list Amounts) *big.Int {
	value, _ := list.Get(o.resource)
	return big.NewInt(value)
}

func (o *oracle) childRequest(name string) *big.Int {
	sum := new(big.Int)
	for _, holding := range o.holdings[name] {
		sum.Add(sum, o.amount(holding.Request))
	}
	for _, child := range o.children(name) {
		sum.Add(sum, o.limited(child))
	}
	return smaller(sum, unlimited)
}

func (o *oracle) limited(name string) *big.Int {
	spec := o.specs[name]
	request := o.childRequest(name)
	if minimum := o.amount(spec.Min); !spec.Lends && request.Cmp(minimum) < 0 {
		request = minimum
	}
	if limit, limited := spec.Max.Get(o.resource); limited && request.Cmp(big.NewInt(limit)) > 0 {
		request = big.NewInt(limit)
	}
	return request
}

func (o *oracle) guaranteed(name string) *big.Int {
	sum := new(big.Int)
	for _, holding := range o.holdings[name] {
		if holding.Assigned {
			sum.Add(sum, o.amount(holding.Request))
		}
	}
	for _, child := range o.children(name) {
		sum.Add(sum, o.guaranteed(child))
	}
	return larger(o.amount(o.specs[name].Min), smaller(sum, unlimited))
}

// used adds up what the pods of a quota and those below it use.
func (o *oracle) used(name string) *big.Int {
	sum := new(big.Int)
	for _, holding := range o.holdings[name] {
		if holding.Assigned {
			sum.Add(sum, o.amount(holding.Request))
		}
	}
	for _, child := range o.children(name) {
		sum.Add(sum, o.used(child))
	}
	return smaller(sum, unlimited)
}

func smaller(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

// credible is what a claim counts for: no more than there is, and the less the further it is beyond.
func (o *oracle) credible(claim, total *big.Int, children int) *big.Int {
	if claim.Cmp(total) <= 0 {
		return claim
	}
	part := new(big.Int).Mul(total, total)
	part.Div(part, claim)
	return larger(part, new(big.Int).Div(total, big.NewInt(int64(children))))
}

// level finds by trial the largest level at which all claims fit; nil where they do without one.
func (o *oracle) level(names []string, total *big.Int) *big.Int {
	fits := func(level *big.Int) bool {
		sum, fixed := new(big.Int), new(big.Int)
		for _, name := range names {
			claim := o.credible(smaller(o.amount(o.specs[name].Min), o.limited(name)), total, len(names))
			if o.specs[name].FixedMin {
				fixed.Add(fixed, claim)
			} else if level != nil {
				claim = smaller(claim, level)
			}
			if !o.specs[name].FixedMin {
				sum.Add(sum, claim)
			}
		}
		if level == nil {
			return sum.Add(sum, fixed).Cmp(total) <= 0
		}
		return sum.Cmp(larger(new(big.Int), new(big.Int).Sub(total, fixed))) <= 0
	}
	if !o.options.ScaleMin || fits(nil) {
		return nil
	}
	low, high := new(big.Int), new(big.Int).Add(total, big.NewInt(1)) // it fits at low; it need not at high
	for new(big.Int).Sub(high, low).Cmp(big.NewInt(1)) > 0 {
		middle := new(big.Int).Add(low, high)
		middle.Rsh(middle, 1)
		if fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// floor is what a quota is guaranteed.
func (o *oracle) floor(name string, names []string, total, level *big.Int) *big.Int {
	least := o.amount(o.specs[name].Min)
	floor := smaller(least, total)
	if !o.options.ScaleMin {
		floor = least
	} else if claim := smaller(least, o.limited(name)); claim.Cmp(total) > 0 {
		floor = o.credible(claim, total, len(names))
	}
	if level != nil && !o.specs[name].FixedMin {
		floor = smaller(floor, level)
	}
	if !o.options.GuaranteeUsage {
		return floor
	}
	bound := larger(o.used(name), floor)
	if len(o.children(name)) > 0 {
		bound = new(big.Int).Add(o.used(name), floor)
	}
	return larger(floor, smaller(o.guaranteed(name), bound))
}

func (o *oracle) share(parent string, total *big.Int) {
	names := o.children(parent)
	level := o.level(names, total)
	left := new(big.Int).Set(total)
	var borrowers []string
	for _, name := range names {
		floor := o.floor(name, names, total, level)
		request := o.limited(name)
		switch {
		case request.Cmp(floor) > 0:
			borrowers = append(borrowers, name)
			o.result[name] = floor
		case o.specs[name].Lends:
			o.result[name] = request
		default:
			o.result[name] = floor
		}
		if o.options.ScaleMin {
			left.Sub(left, o.result[name])
		} else {
			left.Sub(left, o.credible(o.result[name], total, len(names)))
		}
	}
	for left.Sign() > 0 && len(borrowers) > 0 {
		if left, borrowers = o.round(left, borrowers); left == nil {
			break
		}
	}
	for _, name := range names {
		o.share(name, o.result[name])
	}
}

// round divides left among the borrowers; nil when none has a weight.
func (o *oracle) round(left *big.Int, borrowers []string) (*big.Int, []string) {
	weights := new(big.Int)
	for _, name := range borrowers {
		weights.Add(weights, o.weight(name))
	}
	if weights.Sign() == 0 {
		return nil, nil
	}
	type part struct {
		name       string
		gain, rest *big.Int
	}
	var parts []*part
	rest := new(big.Int).Set(left)
	for _, name := range borrowers {
		p := &part{name: name, gain: new(big.Int), rest: new(big.Int)}
		p.gain.DivMod(new(big.Int).Mul(o.weight(name), left), weights, p.rest)
		rest.Sub(rest, p.gain)
		parts = append(parts, p)
	}
	byRest := append([]*part(nil), parts...)
	sort.SliceStable(byRest, func(i, j int) bool { return byRest[i].rest.Cmp(byRest[j].rest) > 0 })
	for i := range int(rest.Int64()) {
		byRest[i].gain.Add(byRest[i].gain, big.NewInt(1))
	}
	back, short := new(big.Int), []string(nil)
	for _, p := range parts {
		runtime := new(big.Int).Add(o.result[p.name], p.gain)
		if request := o.limited(p.name); runtime.Cmp(request) >= 0 {
			back.Add(back, new(big.Int).Sub(runtime, request))
			o.result[p.name] = request
		} else {
			o.result[p.name] = runtime
			short = append(short, p.name)
		}
	}
	return back, short
}

func (o *oracle) weight(name string) *big.Int {
	spec := o.specs[name]
	limit, limited := spec.Max.Get(o.resource)
	if !limited {
		return new(big.Int)
	}
	most := int64(100)
	if o.resource == corev1.ResourceCPU {
		most = 100_000
	}
	if weight, given := spec.Weight.Get(o.resource); given {
		limit = weight
	}
	return smaller(big.NewInt(limit), larger(o.total, big.NewInt(most)))
}
