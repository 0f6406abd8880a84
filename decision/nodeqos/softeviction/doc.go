// Package softeviction decides what the node agent does with requests for a soft eviction: the annotation
// scheduling.koordinator.sh/soft-eviction, by which koord-descheduler and other components ask for a pod to be evicted without evicting
// it themselves.
//
//	Due      the pod is evicted now, with the deleteOptions of the request
//	Waiting  the timestamp lies ahead, an eviction was refused a moment ago, or the eviction budget of the node is used up
//	Leaving  the pod is being deleted
//	Expired  the timestamp was more than an hour ago: what the request was made for is no longer known to be so
//	Ignored  the request cannot be read, is for another pod, or the pod is protected
//
// A request without a timestamp is due at once and does not expire. A request that is removed from the pod is cancelled. Static and
// critical pods, pods whose eviction cost is the maximum, and pods whose annotation koordinator.sh/eviction-policy does not name the
// feature are not evicted. Soft evictions take at most half of the eviction budget of the node; the rest stays for a node that is short of
// resources.
package softeviction
