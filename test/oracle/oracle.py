#!/usr/bin/env python3
"""A second opinion: critical path, POP factors and wait states from the text of `cairn dump --json`.

Slow, plain, and written from the definitions (docs/analysis.md; Scalasca's patterns; Boehme et al. 2012; POP), not from
the analyzer's code. It shares nothing with the analyzer: it reads lines of JSON, derives the members of communicators
from the arguments of the calls that made them, matches messages and collectives, and walks back from the last exit.

    cairn dump --json trace.cairn | oracle.py [path.json] > answer.json

It knows MPI's two-sided communication (blocking, nonblocking, persistent), collectives and the usual constructors of
communicators, of programs with one thread a rank. What it does not know is an error, never a guess.
"""
import bisect
import collections
import json
import sys

WORLD, SELF = "MPI_COMM_WORLD", "MPI_COMM_SELF"
ANY_SOURCE, ANY_TAG, PROC_NULL = "MPI_ANY_SOURCE", "MPI_ANY_TAG", "MPI_PROC_NULL"
EAGER = 4096  # bytes; a standard send from here on may wait for its receive
POLL_GAP = 100_000  # ns; a shorter gap after an unsuccessful poll is waiting, not computation

SEND_MODES = {"": "standard", "S": "synchronous", "B": "buffered", "R": "ready"}
COLLECTIVES = {
    "Barrier": "barrier",
    "Bcast": "one-to-all", "Scatter": "one-to-all", "Scatterv": "one-to-all",
    "Reduce": "all-to-one", "Gather": "all-to-one", "Gatherv": "all-to-one",
    "Allreduce": "all-to-all", "Allgather": "all-to-all", "Allgatherv": "all-to-all", "Alltoall": "all-to-all",
    "Alltoallv": "all-to-all", "Alltoallw": "all-to-all", "Reduce_scatter": "all-to-all",
    "Reduce_scatter_block": "all-to-all",
    "Scan": "prefix", "Exscan": "prefix",
}
WAIT_KIND = {
    "barrier": "wait at barrier", "all-to-all": "wait at NxN", "one-to-all": "late broadcast",
    "all-to-one": "early reduce", "prefix": "early scan",
    "init": "wait at init", "finalize": "wait at finalize",
}
# Of two that end at the same moment the first of these is the reason.
FIRST = ["late sender", "late receiver", "late progress", *WAIT_KIND.values()]
NEW_COMMUNICATOR = {"Comm_dup", "Comm_dup_with_info", "Comm_idup", "Comm_split", "Comm_split_type", "Cart_create", "Cart_sub",
                    "Graph_create", "Dist_graph_create_adjacent", "Comm_create"}
# Calls that neither move data nor wait for other ranks.
LOCAL = {
    "Comm_rank", "Comm_size", "Comm_free", "Comm_group", "Comm_set_name", "Comm_get_name", "Comm_compare",
    "Comm_set_errhandler", "Comm_get_parent", "Comm_test_inter", "Group_incl", "Group_excl", "Group_free",
    "Group_rank", "Group_size", "Group_range_incl", "Group_translate_ranks", "Cart_coords", "Cart_shift", "Cart_rank",
    "Cart_get", "Cartdim_get", "Dims_create", "Wtime", "Wtick", "Initialized", "Finalized", "Get_processor_name",
    "Get_count", "Get_elements", "Get_version", "Get_library_version", "Get_address", "Address", "Type_contiguous",
    "Type_vector", "Type_create_struct", "Type_create_hvector", "Type_create_resized", "Type_indexed", "Type_commit",
    "Type_free", "Type_size", "Type_create_subarray", "Op_create", "Op_free", "Pcontrol", "Error_string",
    "Op_commutative", "Cart_map", "Graph_map", "Graphdims_get", "Graph_get", "Graph_neighbors", "Graph_neighbors_count",
    "Topo_test", "Dist_graph_neighbors", "Dist_graph_neighbors_count", "Reduce_local", "Request_get_status", "Cancel",
    "Status_set_elements", "Iprobe", "Improbe",
    "Query_thread", "Is_thread_main", "Info_create", "Info_set", "Info_free", "Status_set_cancelled", "Test_cancelled",
    "Type_get_extent", "Pack", "Unpack", "Pack_size", "Buffer_attach", "Buffer_detach", "Alloc_mem", "Free_mem",
}

POLLS = {"Test", "Testall", "Testany", "Testsome", "Iprobe", "Improbe", "Request_get_status"}


class Call:
    """One MPI call: its thread, times, arguments, and the rank that it waited for."""

    __slots__ = ("rank", "index", "name", "args", "enter", "exit", "until", "cause", "kind", "begin", "needs", "taken", "found")

    def __init__(self, record):
        self.rank, self.index = record["rank"], record["index"]
        self.name = record["function"].removeprefix("MPI_").removesuffix("_c")
        self.args = record["args"]
        self.enter = record["start_ns"]
        self.exit = self.enter + record["duration_ns"]
        self.begin = self.enter  # of what it may wait for: earlier for the last of a row of polls
        self.until, self.cause, self.kind = None, None, None
        self.taken = None  # (moment, rank, kind of wait, bytes): the last receiver of its small messages to return to MPI
        self.found = False  # a poll that found something immediately, without waiting
        self.needs = []  # (moment, rank, kind of wait): events of others that had to happen before the call could end

    def wait(self, kind, until, cause):
        """The call could not continue before `until`, when `cause` did what it waited for; the last of several counts."""
        if cause == self.rank:
            return
        self.needs.append((until, cause, kind))
        until = min(until, self.exit)
        if until <= self.begin or self.found:
            return
        later = self.until is None or until > self.until
        if later or until == self.until and FIRST.index(kind) < FIRST.index(self.kind):
            self.until, self.cause, self.kind = until, cause, kind


class Operation:
    """A send, a receive or a part of a collective, from its posting to the call that completes it."""

    __slots__ = ("post", "done", "kind", "mode", "comm", "peer", "tag", "bytes", "instance", "persistent")

    def __init__(self, kind, post, **more):
        self.kind, self.post, self.done = kind, post, None
        self.mode = self.comm = self.peer = self.tag = self.instance = self.persistent = None
        self.bytes = 0
        for name, value in more.items():
            setattr(self, name, value)


def before(value):
    return value["in"] if isinstance(value, dict) and "in" in value else value


def after(value):
    return value["out"] if isinstance(value, dict) and "out" in value else value


class Oracle:
    def __init__(self, lines):
        self.calls = collections.defaultdict(list)
        for line in lines:
            record = json.loads(line)
            if record["thread"] != 0:
                raise SystemExit("the oracle knows programs with one thread a rank only")
            self.calls[record["rank"]].append(Call(record))
        self.ranks = sorted(self.calls)
        self.enters = {r: [c.enter for c in self.calls[r]] for r in self.ranks}
        self.members = {WORLD: tuple(self.ranks)}  # of each communicator instance, by its key
        self.names = {r: {WORLD: WORLD} for r in self.ranks}  # handle → key, for each rank
        self.ordinal = collections.Counter()  # collectives so far, of (rank, communicator)
        self.instances = collections.defaultdict(dict)  # collectives: rank → operation
        self.requests = {r: {} for r in self.ranks}
        self.sends = collections.defaultdict(collections.deque)
        self.receives = collections.defaultdict(collections.deque)
        self.messages = []
        self.helped = []  # (call, rank, moment): a call that may need the rank inside MPI from the moment on
        self.ballots = collections.defaultdict(lambda: [0, 0])  # by bits of the size: small sends that ended before, after their receivers came
        self.late = []  # (call, moment, rank, kind of wait, bytes): the latter
        self.posted = []  # receives and probes, in the order of each rank
        self.arrived = {}  # (rank, message) → the receive that will take a matched message
        self.dims = {}  # of Cartesian communicators, by key

    # --- reading the calls in order, each rank until it creates a communicator with others

    def read(self):
        position = dict.fromkeys(self.ranks, 0)
        arrived = collections.defaultdict(dict)  # (parent, ordinal) → rank → call
        blocked = {}
        while True:
            moved = False
            for r in self.ranks:
                if r in blocked:
                    continue
                while position[r] < len(self.calls[r]):
                    moved = True
                    call = self.calls[r][position[r]]
                    position[r] += 1
                    if call.name in NEW_COMMUNICATOR:
                        parent = self.key(call)
                        instance = (parent, self.next(r, parent))
                        op = self.take_part(call, "all-to-all", parent, instance)
                        if call.name == "Comm_idup":
                            op.done = None
                            self.requests[r][call.args["request"]] = op
                        arrived[instance][r] = call
                        blocked[r] = instance
                        break
                    self.step(call)
            for instance, calls in list(arrived.items()):
                if len(calls) == len(self.members[instance[0]]):
                    self.make(instance, calls)
                    del arrived[instance]
                    for r in calls:
                        del blocked[r]
                    moved = True
            if not moved:
                break
        if blocked:
            raise SystemExit(f"ranks {sorted(blocked)} wait for others to make a communicator")

    def key(self, call):
        handle = before(next(call.args[p] for p in ("comm", "comm_old") if p in call.args))
        if handle == SELF:
            return (SELF, call.rank)
        return self.names[call.rank][handle]

    def group(self, key):
        return (key[1],) if key[0] == SELF else self.members[key]

    def next(self, rank, comm):
        self.ordinal[rank, comm] += 1
        return self.ordinal[rank, comm]

    def make(self, instance, calls):
        """Gives the new communicators of one collective call their members, from its arguments."""
        parent = self.members[instance[0]]
        groups = collections.defaultdict(list)
        for place, r in enumerate(parent):
            call = calls[r]
            a, n = call.args, call.name
            if n in ("Comm_dup", "Comm_dup_with_info", "Comm_idup", "Graph_create", "Dist_graph_create_adjacent"):
                groups["all"].append(((place,), r))
            elif n == "Comm_split":
                if a["color"] != "MPI_UNDEFINED":
                    groups[a["color"]].append(((a["key"], place), r))
            elif n == "Comm_split_type":  # all on one host, in the runs this is made for
                groups["all"].append(((a["key"], place), r))
            elif n == "Cart_create":
                size = 1
                for d in a["dims"]:
                    size *= d
                if a["reorder"]:
                    raise SystemExit("the oracle does not know where MPI_Cart_create put the ranks")
                if place < size:
                    groups["all"].append(((place,), r))
                    self.dims[instance] = a["dims"]
            elif n == "Cart_sub":
                dims, rest, coords = self.dims[instance[0]], place, []
                for d in reversed(dims):
                    coords.insert(0, rest % d)
                    rest //= d
                fixed = tuple(c for c, keep in zip(coords, a["remain_dims"]) if not keep)
                groups[fixed].append(((place,), r))
                self.dims[instance + (fixed,)] = [d for d, keep in zip(dims, a["remain_dims"]) if keep]
            else:
                raise SystemExit(f"the oracle does not know what MPI_{n} makes")
        for color, members in groups.items():
            key = instance if color == "all" else instance + (color,)
            self.members[key] = tuple(r for _, r in sorted(members))
            for r in self.members[key]:
                out = calls[r].args
                handle = next(out[p] for p in ("newcomm", "comm_cart", "comm_graph", "comm_dist_graph") if p in out)
                self.names[r][handle] = key

    # --- one call

    def step(self, call):
        n, r, a = call.name, call.rank, call.args
        if n in ("Init", "Init_thread", "Finalize"):
            kind = "finalize" if n == "Finalize" else "init"
            self.take_part(call, kind, WORLD, (kind,))
            return
        persistent = n.endswith("_init")
        nonblocking = persistent or n.startswith("I") and n not in LOCAL and n not in ("Iprobe", "Improbe")
        base = n.removesuffix("_init") if persistent else n[1:].capitalize() if nonblocking else n
        if base in COLLECTIVES:
            comm = self.key(call)
            instance = (comm, self.next(r, comm))
            if persistent:  # it takes part when it is started
                op = Operation(COLLECTIVES[base], call, comm=comm, instance=instance, peer=a.get("root"))
                op.persistent, op.bytes = op, 0
            else:
                op = self.take_part(call, COLLECTIVES[base], comm, instance, done=None if nonblocking else call)
            if nonblocking:
                self.requests[r][a["request"]] = op
        elif base in ("Send", "Ssend", "Bsend", "Rsend"):
            mode = SEND_MODES[base.removesuffix("send").removesuffix("Send")]
            self.begin(call, Operation("send", call, mode=mode, comm=self.key(call), peer=a["dest"], tag=a["tag"]),
                       nonblocking, persistent)
        elif base == "Recv":
            self.begin(call, Operation("receive", call, comm=self.key(call), peer=a["source"], tag=a["tag"]),
                       nonblocking, persistent)
        elif n in ("Sendrecv", "Sendrecv_replace"):
            comm = self.key(call)
            self.begin(call, Operation("send", call, mode="standard", comm=comm, peer=a["dest"], tag=a["sendtag"]),
                       False, False)
            self.begin(call, Operation("receive", call, comm=comm, peer=a["source"], tag=a["recvtag"]), False, False)
        elif n in ("Start", "Startall"):
            handles = a["array_of_requests"] if n == "Startall" else [a["request"]]
            for handle in map(before, handles):
                init = self.requests[r][handle].persistent
                op = Operation(init.kind, call, mode=init.mode, comm=init.comm, peer=init.peer, tag=init.tag)
                op.persistent = init
                self.requests[r][handle] = op
                if init.kind in WAIT_KIND:
                    init.bytes += 1  # how often it was started
                    op.instance = init.instance + (init.bytes,)
                    self.instances[op.instance][r] = op
                self.post(op)
        elif n in ("Wait", "Test"):
            if n == "Test" and not a["flag"]:
                return
            self.complete(call, before(a["request"]), a.get("status"))
        elif n in ("Waitall", "Testall"):
            if n == "Testall" and not a["flag"]:
                return
            handles = before(a["array_of_requests"]) or []
            statuses = a.get("array_of_statuses") or [None] * len(handles)
            for handle, status in zip(handles, statuses):
                self.complete(call, handle, status)
        elif n in ("Waitany", "Testany"):
            handles = before(a["array_of_requests"])
            if n == "Testany" and not a["flag"] or a["index"] == "MPI_UNDEFINED":
                return  # not yet, or nothing to wait for (MPI_UNDEFINED)
            self.complete(call, handles[a["index"]], a.get("status"))
        elif n in ("Waitsome", "Testsome"):
            handles = before(a["array_of_requests"])
            statuses = a.get("array_of_statuses") or [None] * len(a["array_of_indices"])
            for i, status in zip(a["array_of_indices"] or [], statuses):
                self.complete(call, handles[i], status)
        elif n in ("Probe", "Mprobe") or n == "Improbe" and a["flag"]:
            self.begin(call, Operation("probe", call, comm=self.key(call), peer=a["source"], tag=a["tag"]), False, False)
            if n != "Probe":  # the message belongs to the receive that gets it
                op = Operation("receive", call, comm=self.key(call), peer=a["status"]["source"], tag=a["status"]["tag"])
                self.post(op)
                self.arrived[r, a["message"]] = op
        elif n == "Mrecv":
            self.finish(self.arrived.pop((r, before(a["message"]))), call, a["status"])
        elif n == "Imrecv":
            self.requests[r][a["request"]] = self.arrived.pop((r, before(a["message"])))
        elif n == "Request_free":
            self.requests[r].pop(before(a["request"]), None)
        elif n not in LOCAL:
            raise SystemExit(f"the oracle does not know MPI_{n}")

    def take_part(self, call, kind, comm, instance, done="self"):
        op = Operation(kind, call, comm=comm, instance=instance)
        op.done = call if done == "self" else done
        op.peer = call.args.get("root")
        self.instances[instance][call.rank] = op
        return op

    def begin(self, call, op, nonblocking, persistent):
        if persistent:
            op.persistent = op
            self.requests[call.rank][call.args["request"]] = op
            return
        if nonblocking:
            self.requests[call.rank][call.args["request"]] = op
            self.post(op)
            return
        self.post(op)
        self.finish(op, call, call.args.get("status"))

    def post(self, op):
        """Sends are in order between two ranks of a communicator; receives wait until their source and tag are known."""
        if op.kind == "send" and op.peer != PROC_NULL:
            self.sends[self.envelope(op, op.peer, op.tag)].append(op)
        elif op.kind in ("receive", "probe"):
            self.posted.append(op)

    def envelope(self, op, peer, tag):
        group = self.group(op.comm)
        here, there = op.post.rank, group[peer]
        return (op.comm, here, there, tag) if op.kind == "send" else (op.comm, there, here, tag)

    def complete(self, call, handle, status):
        op = self.requests[call.rank].get(handle)
        if op is None:
            return  # MPI_REQUEST_NULL, or an inactive one
        if op.persistent is None:
            del self.requests[call.rank][handle]
        elif op is op.persistent:
            return  # inactive
        else:
            self.requests[call.rank][handle] = op.persistent
        self.finish(op, call, status)

    def finish(self, op, call, status):
        op.done = call
        if op.kind in ("receive", "probe") and op.peer != PROC_NULL:
            if status and status.get("cancelled"):
                op.kind = "cancelled"
                return
            source = status["source"] if op.peer == ANY_SOURCE else op.peer
            tag = status["tag"] if op.tag == ANY_TAG else op.tag
            op.bytes = status["bytes"] if status else None
            op.peer, op.tag = source, tag

    # --- which rank waited for which

    def match(self):
        for op in self.posted:  # in the order of posting on each rank
            if op.kind not in ("receive", "probe") or op.done is None or op.peer in (PROC_NULL, ANY_SOURCE):
                continue
            queue = self.sends[self.envelope(op, op.peer, op.tag)]
            if not queue:
                raise SystemExit(f"rank {op.post.rank}, call {op.post.index}: no send for this receive")
            self.messages.append((queue[0] if op.kind == "probe" else queue.popleft(), op))

    def inside(self, rank, moment):
        """The first time from `moment` on at which the rank is inside MPI, or None."""
        at = bisect.bisect_right(self.enters[rank], moment) - 1
        if at >= 0 and self.calls[rank][at].exit >= moment:
            return moment
        return self.calls[rank][at + 1].enter if at + 1 < len(self.calls[rank]) else None

    def returned(self, op, both, waiting):
        """When the rank of an operation was back that had been inside MPI at a moment and left without completing it, if a
        call of the partner seems to have waited for that; otherwise None."""
        calls = self.calls[op.post.rank]
        at = bisect.bisect_right(self.enters[op.post.rank], both) - 1
        if waiting is None or at < 0 or calls[at].exit < both:
            return None
        left = calls[at].exit
        while op.done is not calls[at]:
            at += 1
            if at == len(calls):
                return None
            back = calls[at].enter
            if back - left > 10_000:
                away, since = back - left, max(waiting.begin, left)
                late = away > 40_000 and 2 * away >= back - waiting.begin and since < back < waiting.exit
                return back if late and waiting.exit - back < (back - since) / 4 else None
            left = max(left, calls[at].exit)
        return None

    def returns(self, rank, moment, shortly):
        """When the rank entered MPI after a moment, up to the first time after it had been away for longer than shortly."""
        at = bisect.bisect_right(self.enters[rank], moment)
        for before, call in zip(self.calls[rank][at - 1 :], self.calls[rank][at:]):
            yield call.enter
            if call.enter - before.exit > shortly:
                return

    def around(self, rank, moment):
        """When the rank last left MPI of what it had entered by the moment, or entered again after that."""
        at = bisect.bisect_right(self.enters[rank], moment) - 1
        left = self.calls[rank][at].exit if at >= 0 else None
        back = self.calls[rank][at + 1].enter if at + 1 < len(self.calls[rank]) else None
        return left, back

    def wait_states(self):
        self.polls()
        for send, receive in self.messages:
            s, r = send.post, receive.post
            receive.done.wait("late sender", s.enter, s.rank)
            if receive.kind == "probe":
                continue
            size = receive.bytes if receive.bytes is not None else 0
            self.small(send, receive, size)
            if send.mode == "buffered" or send.mode != "synchronous" and size < EAGER:
                continue
            both = max(s.enter, r.enter)
            self.helped += [(send.done, r.rank, both), (receive.done, s.rank, both)]
            back = r.enter if r.enter >= s.enter else self.inside(r.rank, both)
            back = self.returned(receive, both, send.done) or back
            if send.done is not None and back is not None:
                kind = "late receiver" if back == r.enter else "late progress"
                if send.done.exit > back:
                    send.done.wait(kind, back, r.rank)
                else:
                    send.done.needs.append((back, r.rank, kind))  # it did not wait for that, by so much
            # A receiver may have to wait until the sender, who computed when both sides were posted, is inside MPI again.
            # This needs evidence: the wait ended soon after that, compared with how long the sender was away.
            back = self.inside(s.rank, both)
            since = max(receive.done.begin, s.exit)
            if back is None or not since < back < receive.done.exit or receive.done.exit - back >= (back - since) / 4:
                back = self.returned(send, both, receive.done)
            if back is not None:
                receive.done.wait("late progress", back, s.rank)
        for instance, parts in self.instances.items():
            kind = next(iter(parts.values())).kind
            group = self.ranks if len(instance) == 1 else self.group(instance[0])
            for place, r in enumerate(group):
                if r not in parts or parts[r].done is None:
                    continue
                if kind == "one-to-all":
                    others = [group[parts[r].peer]]
                elif kind == "all-to-one":
                    others = group if group[parts[r].peer] == r else []
                elif kind == "prefix":
                    others = group[: place + 1]
                else:
                    others = group
                entered = [(parts[o].post.enter, -i, o) for i, o in enumerate(others) if o in parts]
                if not entered:
                    continue
                last, _, who = max(entered)
                parts[r].done.needs += [(moment, o, WAIT_KIND[kind]) for moment, _, o in entered if o != who]
                if kind in ("init", "finalize") and last > parts[r].done.exit:
                    continue  # they need not synchronize
                parts[r].done.wait(WAIT_KIND[kind], last, who)

        for r in self.ranks:
            for call in self.calls[r]:
                self.kept(call)
        for call, moment, rank, kind, size in self.late:
            before, after = self.ballots[size.bit_length()]
            if after >= 3 and after > 4 * before:
                call.wait(kind, moment, rank)

    def small(self, send, receive, size):
        """A small send to a receiver outside MPI ends before the receiver is back, or may wait for it."""
        s, r, call = send.post, receive.post, send.done
        if send.mode != "standard" or not 0 < size < EAGER or call is None or s.rank == r.rank:
            return
        back = r.enter
        if r.enter < s.enter:
            back = self.inside(r.rank, s.enter)
        elif r.enter > s.enter and self.inside(r.rank, s.enter) < r.enter:
            return  # it was inside MPI meanwhile
        if back is None or back <= max(call.begin, s.enter):
            return
        if back > call.exit:
            self.ballots[size.bit_length()][0] += 1
        elif call.taken is None or back > call.taken[0]:
            call.taken = (back, r.rank, "late receiver" if back == r.enter else "late progress", size)

    def kept(self, call):
        """It counts as a wait only with evidence: the call ended soon after the receiver was back. Then sends of this size vote."""
        if call.taken is None:
            return
        moment, rank, kind, size = call.taken
        since = max(call.begin, call.until or 0)
        if moment > since and 4 * (moment - since) >= call.exit - call.begin and call.exit - moment < (moment - since) / 4:
            self.ballots[size.bit_length()][1] += 1
            self.late.append((call, moment, rank, kind, size))

    def polls(self):
        """A sequence of unsuccessful polls belongs to the call that ends it: the waiting began with the first poll."""
        self.vain = {r: [False] * len(self.calls[r]) for r in self.ranks}
        for r in self.ranks:
            for i, call in enumerate(self.calls[r]):
                if call.name in POLLS:
                    flag = call.args.get("flag", call.args.get("outcount"))
                    self.vain[r][i] = not flag or flag == "MPI_UNDEFINED"
                    call.found = not self.vain[r][i] and not (i > 0 and self.vain[r][i - 1])

    # --- answers

    def answer(self):
        self.read()
        self.match()
        self.wait_states()
        start = min(c.enter for r in self.ranks for c in self.calls[r][:1])
        end = max(c.exit for r in self.ranks for c in self.calls[r][-1:])
        useful = {r: self.computation(r) for r in self.ranks}
        mean, most, run = sum(useful.values()) / len(useful), max(useful.values()), end - start
        waits = [c for r in self.ranks for c in self.calls[r] if c.until is not None]
        return {
            "run_ns": run,
            "start_ns": start,
            "useful_ns": useful,
            "load_balance": mean / most if most else None,
            "communication": most / run,
            "parallel": mean / run,
            "path": self.path(start, end),
            "waits": [[c.rank, c.cause, c.kind, c.begin - start, c.until - start] for c in waits],
            "tied_ns": sum(c.until - c.begin for c in waits if self.tied(c)),
            "messages": len(self.messages),
        }

    @staticmethod
    def tied(call):
        """Whether something else was equally late: then the cause of the wait is arbitrary."""
        return len({need[1:] for need in call.needs if min(need[0], call.exit) == call.until}) > 1

    def computation(self, rank):
        """The time between calls; a call made by a callback is within another call."""
        total, left, vain = 0, None, False
        for i, call in enumerate(self.calls[rank]):
            if left is not None and call.enter > left:
                if not (vain and call.name in POLLS and call.enter - left <= POLL_GAP):
                    total += call.enter - left
            left, vain = max(left or 0, call.exit), self.vain[rank][i]
        return total

    def path(self, start, end):
        """From the last exit backward: at a wait, to the rank that was waited for. Segments [rank, from, to], in order of time."""
        waits = {r: [c for c in self.calls[r] if c.until is not None] for r in self.ranks}
        ends = {r: [c.until for c in waits[r]] for r in self.ranks}
        rank = min(r for r in self.ranks if self.calls[r][-1].exit == end)
        segments, t = [], end
        while t > start:
            at = bisect.bisect_right(ends[rank], t) - 1
            if at < 0:
                first = self.calls[rank][0].enter
                segments.append([rank, max(first, start) - start, t - start])
                if first > start:
                    segments.append([rank, 0, first - start])  # it was launched late
                break
            wait = waits[rank][at]
            segments.append([rank, wait.until - start, t - start])
            rank, t = wait.cause, wait.until
        return segments[::-1]

    # --- is another path a critical path?

    def needed(self, rank, moment, slack):
        """The ranks that the rank needs for an event at a time, also through others that forwarded it immediately."""
        found, ask = {rank}, [rank]
        for r in ask:
            for c in self.calls[r]:
                if c.exit >= moment - slack and c.enter <= moment + slack:
                    more = {cause for at, cause, _ in c.needs if abs(at - moment) <= slack} - found
                    found |= more
                    ask += more
        return found

    def faults(self, segments, tolerance):
        """What is wrong with a path, for a run with times that are known to within `tolerance` ns: segments [rank, from, to].

        A path goes from the first entry to the last exit without a gap. It contains no waiting. It changes from one rank
        to another only where the later one needed what the former did at that moment. Where two moments are nearer than
        the tolerance there are several such paths, and any is right.
        """
        calls = [c for r in self.ranks for c in self.calls[r]]
        start = min(c.enter for c in calls)
        waits = {r: [c for c in self.calls[r] if c.until is not None] for r in self.ranks}
        wrong, slack, unsure = [], 2 * tolerance, set()
        for call, rank, both in self.helped:
            left, back = self.around(rank, both)
            if call is not None and left is not None and back is not None and abs(left - both) <= slack:
                call.needs.append((back, rank, "late progress"))  # it may have left MPI before that, or after
                unsure.add(call)
            if tolerance and call is not None and left is not None:
                for back in self.returns(rank, both, 10_000 + 4 * tolerance):
                    if call.begin < back < call.exit:
                        call.needs.append((back, rank, "late progress"))  # rounding may make evidence of that
                        unsure.add(call)
        for i, (rank, begin, end) in enumerate(segments):
            if i and abs(begin - segments[i - 1][2]) > 1:
                wrong.append(f"a gap of {begin - segments[i - 1][2]} ns before {begin}")
            for c in waits[rank]:
                if c in unsure and c.kind == "late progress":
                    continue
                overlap = min(end, c.until - start) - max(begin, c.begin - start)
                if overlap > slack:
                    wrong.append(f"rank {rank} waits in MPI_{c.name} (call {c.index}) for {overlap} ns of {begin}-{end}")
            if i and segments[i - 1][0] not in self.needed(rank, start + begin, slack):
                wrong.append(f"rank {rank} needs nothing of rank {segments[i - 1][0]} at {begin}")
        return wrong


if __name__ == "__main__":
    oracle = Oracle(sys.stdin)
    answer = oracle.answer()
    if len(sys.argv) > 1:  # PATH.json: {"segments": [[rank, from, to], …], "tolerance_ns": …}
        with open(sys.argv[1]) as f:
            theirs = json.load(f)
        answer["faults"] = oracle.faults(theirs["segments"], theirs["tolerance_ns"])
    json.dump(answer, sys.stdout)
