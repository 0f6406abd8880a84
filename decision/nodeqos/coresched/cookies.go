package coresched

import (
	"maps"
	"slices"
)

// Thread is one that runs in a pod.
type Thread struct {
	ID int
	// Cookie that it has; 0 is none.
	Cookie uint64
}

// Member is a pod with its threads.
type Member struct {
	// Group of the pod, as GroupOf has it.
	Group   Group
	Threads []Thread
}

// Assignment is what has to be done so that the threads of a group share one cookie, and no other thread has it.
type Assignment struct {
	// Cookies of the groups that have one. A group without gets one with its first change.
	Cookies map[string]uint64 `json:"cookies,omitempty"`
	// Changes in the order of the members.
	Changes []Change `json:"changes,omitempty"`
	// Own are threads that gave themselves a cookie, as virtual machines do; they keep it.
	Own []int `json:"own,omitempty"`
}

// Change is a thread that is to have another cookie.
type Change struct {
	Thread int `json:"thread"`
	// Member is the index of the thread's pod.
	Member int `json:"member"`
	// Cookie is true where it is to have that of the group, and false where it is to have none.
	Cookie bool   `json:"cookie"`
	Group  string `json:"group,omitempty"`
}

// Assign compares the cookies that threads have with those of their groups. Known are the cookies that the agent gave out, by
// group; those that no thread has any more are forgotten, because the kernel may give the same number to others.
func Assign(known map[string]uint64, members []Member) Assignment {
	held, given := map[uint64]bool{}, map[uint64]bool{}
	for _, member := range members {
		for _, thread := range member.Threads {
			held[thread.Cookie] = true
		}
	}
	out := Assignment{Cookies: maps.Clone(known)}
	if out.Cookies == nil {
		out.Cookies = map[string]uint64{}
	}
	maps.DeleteFunc(out.Cookies, func(_ string, cookie uint64) bool { return cookie == 0 || !held[cookie] })
	for cookie := range maps.Values(out.Cookies) {
		given[cookie] = true
	}
	for index, member := range members {
		wanted := uint64(0)
		if member.Group.Cookie {
			wanted = out.Cookies[member.Group.ID]
		}
		for _, thread := range member.Threads {
			switch {
			case thread.Cookie != 0 && !given[thread.Cookie]:
				out.Own = append(out.Own, thread.ID)
			case thread.Cookie != wanted || member.Group.Cookie && wanted == 0:
				out.Changes = append(out.Changes, Change{Thread: thread.ID, Member: index, Cookie: member.Group.Cookie, Group: member.Group.ID})
			}
		}
	}
	slices.Sort(out.Own)
	return out
}
