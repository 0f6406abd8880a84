package device

import (
	"slices"
	"sync"

	"koordinator.sh/koord/api/extension"
)

// Fits returns nil when the node can serve the request, else why it cannot. It finds something exactly when Allocate
// does, and does not choose among possibilities. A nil trace records nothing.
func Fits(in Input, trace *Trace) *Refusal {
	s := begin(&in, false, trace)
	defer s.end()
	return s.run()
}

// Allocate chooses devices for the request. A nil trace records nothing.
func Allocate(in Input, trace *Trace) (Allocation, *Refusal) {
	if in.Preferred != nil {
		if allocation, found := allocatePreferred(in); found {
			return allocation, nil
		}
	}
	s := begin(&in, true, trace)
	defer s.end()
	if refusal := s.run(); refusal != nil {
		return Allocation{}, refusal
	}
	return s.allocation(), nil
}

// allocatePreferred looks among the preferred devices alone.
func allocatePreferred(in Input) (Allocation, bool) {
	s := begin(&in, true, nil)
	defer s.end()
	s.onlyPreferred = true
	if s.run() != nil {
		return Allocation{}, false
	}
	return s.allocation(), true
}

// search is one run of the decision. It is reused, so that a filter over many nodes does not allocate.
type search struct {
	in     Input
	trace  *Trace
	ledger *Ledger
	node   *Node
	// prefer is true when the best possibility is wanted, not any.
	prefer bool
	// preferred devices come first, and alone when onlyPreferred is set.
	preferred     [kinds]set
	onlyPreferred bool
	// eligible devices can serve the demand of their type alone; chosen ones do.
	eligible, chosen [kinds]set
	// count of devices to choose.
	count [kinds]int
	// places of the type at hand, best first.
	places []place
	// bySwitch counts eligible devices of a type by PCIe switch.
	bySwitch [kinds][]int
	switches jointSwitches
	ranked   []rankedDevice
}

var searches = sync.Pool{New: func() any { return &search{} }}

func begin(in *Input, prefer bool, trace *Trace) *search {
	s, _ := searches.Get().(*search)
	s.in, s.ledger, s.node, s.prefer, s.trace = *in, in.Ledger, in.Ledger.node, prefer, trace
	for k := range kinds {
		size := len(s.node.devices[k])
		s.eligible[k], s.chosen[k], s.count[k] = s.eligible[k].cleared(size), s.chosen[k].cleared(size), 0
		s.preferred[k] = s.preferred[k].cleared(size)
	}
	s.onlyPreferred = false
	if in.Preferred != nil {
		s.markPreferred(in.Preferred)
	}
	s.places = s.places[:0]
	trace.begin(in)
	return s
}

func (s *search) markPreferred(preferred *Allocation) {
	for i := range preferred.Items {
		item := &preferred.Items[i]
		if position, _ := s.node.find(item.kind, item.Minor, item.ID); position >= 0 {
			s.preferred[item.kind].add(position)
		}
	}
}

func (s *search) end() {
	s.in, s.ledger, s.node, s.trace = Input{}, nil, nil, nil
	searches.Put(s)
}

func (s *search) run() *Refusal {
	request := s.in.Request
	if demand := request.demand(gpu); demand != nil {
		if refusal := s.checkGPUs(demand); refusal != nil {
			return refusal
		}
	}
	for i := range request.Demands {
		if refusal := s.screen(&request.Demands[i]); refusal != nil {
			return refusal
		}
	}
	if len(request.joint) > 0 {
		if refusal := s.placeJointly(); refusal != nil {
			return refusal
		}
	}
	for i := range request.Demands {
		demand := &request.Demands[i]
		if slices.Contains(request.joint, demand.kind) {
			continue
		}
		if refusal := s.place(demand); refusal != nil {
			return refusal
		}
	}
	return nil
}

// checkGPUs looks at what the node is, before at what it has left.
func (s *search) checkGPUs(demand *Demand) *Refusal {
	facts, request := &s.ledger.labels, s.in.Request
	if len(s.node.devices[gpu]) == 0 {
		return &refusals.missing[gpu]
	}
	if refusal := s.checkDevicePlugin(demand); refusal != nil {
		return refusal
	}
	if demand.Shared {
		if request.isolation != "" && request.isolation != facts.isolation {
			return &refusals.noIsolation
		}
		if !s.in.Policy.sharable(facts) {
			return unsharable(facts)
		}
		if request.byTemplate && request.templates[facts.modelKey()] == "" {
			return &refusals.noTemplate
		}
		return nil
	}
	if !facts.honor && !request.partition.required {
		return nil
	}
	if s.ledger.table == nil {
		return &refusals.noTable
	}
	if _, known := s.ledger.table.of(demand.Count); !known {
		return &refusals.noSize
	}
	return nil
}

// allocation writes down the chosen devices.
func (s *search) allocation() Allocation {
	allocation := Allocation{}
	for i := range s.in.Request.Demands {
		demand := &s.in.Request.Demands[i]
		k := demand.kind
		allocation.exclusive[k] = demand.exclusive
		template := ""
		if k == gpu && s.in.Request.byTemplate {
			template = s.in.Request.templates[s.ledger.labels.modelKey()]
		}
		for position := s.chosen[k].next(0); position >= 0; position = s.chosen[k].next(position + 1) {
			device := &s.node.devices[k][position]
			item := Item{kind: k, Minor: device.minor, ID: device.uuid, Amount: demand.Each.completed(&device.total), Template: template}
			if demand.vfSelector != nil {
				if vf := s.ledger.freeFunction(demand, position); vf != nil {
					item.Functions = []extension.VirtualFunction{{Minor: int(vf.minor), BusID: vf.busID}}
				}
			}
			allocation.Items = append(allocation.Items, item)
		}
	}
	allocation.sort()
	return allocation
}
