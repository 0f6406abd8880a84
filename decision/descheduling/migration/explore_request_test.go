package migration

// requesting has the pod of a cluster be evicted by an EvictionRequest.
func requesting(c cluster) cluster {
	c.Pod.Policy = RequestEviction
	return c
}

// request creates the EvictionRequest of the job.
func (c *cluster) request() {
	switch {
	case c.Refusal != "":
		c.Violated = "an EvictionRequest is created although none can be used"
	case c.Request == nil: // else the name exists already
		c.Request = &EvictionRequest{Name: EvictionRequestName(c.Job), UID: "request", Owned: true}
	}
}

func (c *cluster) withdraw(action Action) {
	condition := Condition(&c.Job.Status, "EvictionRequest")
	switch {
	case !Finished(c.Job) && !unavailable(condition):
		c.Violated = "the EvictionRequest is withdrawn by a job that needs it"
	case c.Request == nil || c.Request.UID != action.UID:
	case !c.Request.Owned:
		c.Violated = "an EvictionRequest of another requester is withdrawn"
	default:
		c.Request.Withdrawn = true
	}
}

// asked reports whether the pod may still be evicted because the job asks for it.
func (c *cluster) asked() bool {
	pod := c.Pod != nil && c.Pod.UID == podUID && !c.Pod.Terminating
	return pod && c.Refusal == "" && c.Request.open() && c.Job.Status.Phase != "Succeeded"
}

// requestEvents are what may happen to an EvictionRequest, and to the API that has them.
func requestEvents() []event {
	of := func(can func(*EvictionRequest) bool, do func(*cluster)) func(*cluster) bool {
		return func(c *cluster) bool {
			if c.Request == nil || c.Refusal != "" || !can(c.Request) {
				return false
			}
			do(c)
			return true
		}
	}
	return []event{
		{"a controller observes the request", false, of(func(r *EvictionRequest) bool { return !r.Observed }, func(c *cluster) { c.Request.Observed = true })},
		{"a responder evicts the pod", false, func(c *cluster) bool {
			if c.Refusal != "" || !c.Request.open() || !c.Request.Observed || c.Request.Failed != "" || c.Pod == nil || c.Pod.UID != podUID || c.Pod.Terminating {
				return false
			}
			c.Pod.Terminating = true
			return true
		}},
		{"no responder is left", true, of(func(r *EvictionRequest) bool { return r.Observed && r.Failed == "" }, func(c *cluster) { c.Request.Failed = "NoFurtherResponder" })},
		{"a user withdraws the request", true, of((*EvictionRequest).open, func(c *cluster) { c.Request.Withdrawn = true })},
		{"a user deletes the request", true, of(func(*EvictionRequest) bool { return true }, func(c *cluster) { c.Request = nil })},
		{"another requester's request gets the name", true, func(c *cluster) bool {
			if c.Request != nil || c.Pod == nil || c.Pod.Policy != RequestEviction {
				return false
			}
			c.Request = &EvictionRequest{Name: EvictionRequestName(c.Job), UID: "theirs"}
			return true
		}},
		{"the API server serves EvictionRequests no longer, or again", true, func(c *cluster) bool {
			if c.Pod == nil || c.Pod.Policy != RequestEviction {
				return false
			}
			if c.Refusal == "" {
				c.Refusal = EvictionRequestsNotServed
			} else {
				c.Refusal = ""
			}
			return true
		}},
	}
}
