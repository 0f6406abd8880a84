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
	specs    map[string]*Spec
	holdings map[string][]Holding
	result   map[string]*big.Int
}

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
	return sum
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
	if minimum := o.amount(o.specs[name].Min); sum.Cmp(minimum) < 0 {
		return minimum
	}
	return sum
}

func (o *oracle) share(parent string, total *big.Int) {
	names := o.children(parent)
	sumMin, sumFixed := new(big.Int), new(big.Int)
	for _, name := range names {
		sumMin.Add(sumMin, o.amount(o.specs[name].Min))
		if o.specs[name].FixedMin {
			sumFixed.Add(sumFixed, o.amount(o.specs[name].Min))
		}
	}
	left := new(big.Int).Set(total)
	var borrowers []string
	for _, name := range names {
		floor := o.amount(o.specs[name].Min)
		if o.options.ScaleMin && sumMin.Cmp(total) > 0 && !o.specs[name].FixedMin {
			available := new(big.Int).Sub(total, sumFixed)
			if available.Sign() <= 0 {
				floor = new(big.Int)
			} else if scalable := new(big.Int).Sub(sumMin, sumFixed); scalable.Sign() > 0 {
				floor = floor.Mul(floor, available)
				floor.Div(floor, scalable)
			}
		}
		if o.options.GuaranteeUsage {
			if guaranteed := o.guaranteed(name); guaranteed.Cmp(floor) > 0 {
				floor = guaranteed
			}
		}
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
		left.Sub(left, o.result[name])
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

// round divides left among the borrowers; nil when nobody has a weight.
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
	if weight, given := spec.Weight.Get(o.resource); given {
		return big.NewInt(weight)
	}
	return big.NewInt(limit)
}
