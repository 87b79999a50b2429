"""Compares an OTF2 archive, read by python3-otf2, with the calls of `cairn dump --json`.

    check.py traces.otf2 dump.json [part]

What is counted of the calls is written here apart from the exporter. With "part" the archive has some of the calls only:
then what it has of messages and operations must be whole, and no more than the dump has. Prints what was compared; exits
with 1 and a list of what differs.
"""
import collections
import json
import re
import sys

import otf2
from otf2.enums import CollectiveOp, Paradigm

# python3-otf2 3.0.2 takes an intercommunicator to have the fields of a communicator, too, and its parent to be an
# intercommunicator: it fails to read any.
fields = otf2.definitions.InterComm._fields
otf2.definitions.InterComm._fields = fields[:1] + fields[4:6] + (fields[6]._replace(type=otf2.definitions.Comm), fields[7])
Counter = collections.Counter
SIZES = {
    "MPI_BYTE": 1, "MPI_CHAR": 1, "MPI_PACKED": 1, "MPI_SIGNED_CHAR": 1, "MPI_UNSIGNED_CHAR": 1, "MPI_SHORT": 2, "MPI_INT": 4,
    "MPI_FLOAT": 4, "MPI_LONG": 8, "MPI_DOUBLE": 8, "MPI_LONG_LONG": 8, "MPI_LONG_LONG_INT": 8, "MPI_UNSIGNED": 4,
    "MPI_INT64_T": 8, "MPI_UINT64_T": 8, "MPI_INT32_T": 4, "MPI_2INT": 8, "MPI_DOUBLE_INT": 12, "MPI_UNSIGNED_LONG": 8,
    "MPI_FLOAT_INT": 8, "MPI_INTEGER": 4, "MPI_REAL": 4, "MPI_DOUBLE_PRECISION": 8,
}
COLLECTIVES = (
    "Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw Reduce Allreduce "
    "Reduce_scatter Reduce_scatter_block Scan Exscan").split()
CREATES = (
    "Comm_dup Comm_dup_with_info Comm_idup Comm_split Comm_split_type Comm_create Cart_create Cart_sub Graph_create "
    "Dist_graph_create Dist_graph_create_adjacent Intercomm_merge").split()
SENDS = ["MPI_" + s + "end" for s in ("S", "Bs", "Ss", "Rs")]
ISENDS = ["MPI_I" + s + "end" for s in ("s", "bs", "ss", "rs")]
# operations in which everybody waits for all
ALL = {CollectiveOp.BARRIER, CollectiveOp.ALLGATHER, CollectiveOp.ALLGATHERV, CollectiveOp.ALLTOALL, CollectiveOp.ALLTOALLV,
       CollectiveOp.ALLTOALLW, CollectiveOp.ALLREDUCE, CollectiveOp.REDUCE_SCATTER, CollectiveOp.REDUCE_SCATTER_BLOCK}
problems = []


def name_of(enum):
    return str(enum).rsplit(".", 1)[-1].removeprefix("CollectiveOp_").removeprefix("COLLECTIVE_OP_")


def differs(what, *of):
    problems.append(what + ": " + ", ".join(str(o) for o in of))


def before(v):
    return v["in"] if isinstance(v, dict) and "in" in v else v


def after(v):
    return v["out"] if isinstance(v, dict) and "out" in v else v


def peer(v):
    return v if isinstance(v, int) and v >= 0 else None


class Calls:
    """What the dump says was done: counters by rank."""

    def __init__(self, path):
        self.functions, self.sent, self.received, self.collective = Counter(), Counter(), Counter(), Counter()
        self.world, self.rma, self.files, self.file_bytes = Counter(), Counter(), Counter(), Counter()
        self.requests, self.persistent, self.messages = {}, {}, {}
        self.unfinished = False
        calls = [json.loads(line) for line in open(path)]
        # requests may be completed on another thread than the one that made them
        calls.sort(key=lambda c: (c["rank"], c["start_ns"]))
        for c in calls:
            self.call(c)

    def call(self, c):
        name, args, rank = c["function"].removesuffix("_c"), c["args"], c["rank"]
        self.functions[rank, c["function"]] += 1
        if c.get("unfinished"):
            self.unfinished = True
            return
        if re.match("MPI_(Wait|Test)(all|any|some)?$", name):
            return self.complete(rank, name, args)
        if c["return"] != 0 or c.get("untraced"):
            return
        short = name.removeprefix("MPI_")
        comm = before(args.get("comm"))
        if name in SENDS or name in ISENDS:
            self.send(rank, peer(args["dest"]), args["count"], args["datatype"], comm)
            if name in ISENDS:
                self.requests[rank, after(args["request"])] = None
        elif name == "MPI_Recv":
            self.receive(rank, args["source"], args["status"])
        elif name == "MPI_Irecv":
            self.requests[rank, after(args["request"])] = args["source"]
        elif name in ("MPI_Sendrecv", "MPI_Sendrecv_replace"):
            count, datatype = args.get("sendcount", args.get("count")), args.get("sendtype", args.get("datatype"))
            self.send(rank, peer(args["dest"]), count, datatype, comm)
            self.receive(rank, args["source"], args["status"])
        elif re.match("MPI_(S|Bs|Ss|Rs)end_init$", name):
            self.persistent[rank, after(args["request"])] = ("send", args)
        elif name == "MPI_Recv_init":
            self.persistent[rank, after(args["request"])] = ("receive", args)
        elif short.endswith("_init") and short.removesuffix("_init") in COLLECTIVES:
            self.persistent[rank, after(args["request"])] = (("collective", short.removesuffix("_init").upper()), args)
        elif name in ("MPI_Start", "MPI_Startall"):
            started = args.get("array_of_requests", args.get("request"))
            started = before(started)
            for r in started if isinstance(started, list) else [started]:
                self.start(rank, before(r))
        elif name == "MPI_Request_free":
            self.requests.pop((rank, before(args["request"])), None)
        elif name in ("MPI_Mprobe", "MPI_Improbe"):
            if after(args.get("flag", 1)):
                self.messages[rank, after(args["message"])] = True
        elif name == "MPI_Mrecv":
            if self.messages.pop((rank, before(args["message"])), None):
                self.receive(rank, "MPI_ANY_SOURCE", args["status"])
        elif name == "MPI_Imrecv":
            if self.messages.pop((rank, before(args["message"])), None):
                self.requests[rank, after(args["request"])] = "MPI_ANY_SOURCE"
        elif short in COLLECTIVES or short[:1] == "I" and short[1:].capitalize() in COLLECTIVES:
            operation = short if short in COLLECTIVES else short[1:].capitalize()
            if short in COLLECTIVES:
                self.collective[rank, operation.upper()] += 1
            else:
                self.requests[rank, after(args["request"])] = ("collective", operation.upper())
        elif short in CREATES:
            if short == "Comm_idup":
                self.requests[rank, after(args["request"])] = ("collective", "CREATE_HANDLE")
            else:
                self.collective[rank, "CREATE_HANDLE"] += 1
        elif name == "MPI_Comm_free":
            self.collective[rank, "DESTROY_HANDLE"] += 1
        elif re.match("MPI_R?(put|get|accumulate|get_accumulate)$", name, re.I) or name in ("MPI_Fetch_and_op", "MPI_Compare_and_swap"):
            if peer(args["target_rank"]) is not None:
                kind = {"put": "RmaPut", "get": "RmaGet"}.get(short.lower().removeprefix("r"), "RmaAtomic")
                self.rma[rank, kind, args["target_rank"]] += 1
        elif re.match("MPI_File_i?(read|write)", name) and not name.endswith("_end"):
            kind = "READ" if "read" in name else "WRITE"
            self.files[rank, kind] += 1
            if args["datatype"] in SIZES:
                self.file_bytes[rank, kind] += args["count"] * SIZES[args["datatype"]]
            else:
                self.file_bytes[rank, kind] += 1 << 60  # a derived type: not compared
            if "request" in args:
                self.requests[rank, after(args["request"])] = None

    def send(self, rank, dest, count, datatype, comm):
        if dest is None:
            return
        self.sent[rank] += 1
        if comm == "MPI_COMM_WORLD" and datatype in SIZES:
            self.world[rank, dest, "messages"] += 1
            self.world[rank, dest, "bytes"] += count * SIZES[datatype]
        elif comm == "MPI_COMM_WORLD":
            self.world[rank, dest, "derived"] += 1

    def receive(self, rank, source, status):
        status = after(status)
        if source == "MPI_PROC_NULL" or not isinstance(status, dict) or status.get("cancelled"):
            return
        if status["source"] != "MPI_PROC_NULL" and status["source"] != -2:
            self.received[rank] += 1

    def start(self, rank, r):
        kind, args = self.persistent.get((rank, r), (None, None))
        if kind == "send":
            self.send(rank, peer(args["dest"]), args["count"], args["datatype"], args["comm"])
            self.requests[rank, r] = None
        elif kind == "receive":
            self.requests[rank, r] = args["source"]
        elif kind is not None:
            self.requests[rank, r] = kind

    def complete(self, rank, name, args):
        many = "array_of_requests" in args
        requests = args["array_of_requests" if many else "request"]
        requests = before(requests)
        requests = requests if isinstance(requests, list) else [requests]
        statuses = after(args.get("array_of_statuses", args.get("status")))
        if "flag" in args and not after(args["flag"]):
            return
        if name.endswith("some"):
            indices = after(args["array_of_indices"])
            done = list(zip(indices, statuses)) if isinstance(indices, list) and isinstance(statuses, list) else []
        elif name.endswith("any"):
            i = after(args["index"])
            done = [(i, statuses)] if isinstance(i, int) and i >= 0 else []
        elif name.endswith("all"):
            done = list(enumerate(statuses if isinstance(statuses, list) else [None] * len(requests)))
        else:
            done = [(0, statuses)]
        for i, status in done:
            r = before(requests[i])
            source = self.requests.pop((rank, r), None)
            if isinstance(source, tuple):
                self.collective[rank, source[1]] += 1
            elif source is not None and source != "MPI_PROC_NULL":
                if isinstance(status, dict):
                    self.receive(rank, source, status)
                else:
                    self.received[rank] += 1


class Archive:
    """What the archive says, checked by itself."""

    def __init__(self, path):
        self.functions, self.sent, self.received, self.collective = Counter(), Counter(), Counter(), Counter()
        self.world, self.rma, self.files, self.file_bytes = Counter(), Counter(), Counter(), Counter()
        self.events = self.repaired = 0
        sends, receives = collections.defaultdict(list), collections.defaultdict(list)
        instances = collections.defaultdict(lambda: collections.defaultdict(list))
        last, stacks, requests, begun, operations, open_io = {}, {}, {}, {}, {}, {}
        with otf2.reader.open(path) as archive:
            self.definitions(archive)
            for location, e in archive.events:
                self.events += 1
                kind, rank = type(e).__name__, self.rank[location]
                if e.time < last.get(location, 0):
                    differs("time goes backward", rank, kind, e.time)
                last[location] = e.time
                stack = stacks.setdefault(location, [])
                if kind == "Enter":
                    stack.append(e.region)
                    if e.region.paradigm == Paradigm.MPI:
                        self.functions[rank, e.region.name] += 1
                elif kind == "Leave":
                    if not stack or stack.pop() is not e.region:
                        differs("left what was not entered last", rank, e.region.name)
                elif kind in ("MpiSend", "MpiIsend"):
                    self.sent[rank] += 1
                    to = self.member(e.communicator, e.receiver, rank)
                    sends[e.communicator, rank, to, e.msg_tag].append((e.time, e.msg_length))
                    if e.communicator.name == "MPI_COMM_WORLD":
                        self.world[rank, to, "messages"] += 1
                        self.world[rank, to, "bytes"] += e.msg_length
                    if kind == "MpiIsend":
                        requests[rank, e.request_id] = "send"
                elif kind in ("MpiRecv", "MpiIrecv"):
                    self.received[rank] += 1
                    source = self.member(e.communicator, e.sender, rank)
                    receives[e.communicator, source, rank, e.msg_tag].append((e.time, e.msg_length))
                    if kind == "MpiIrecv" and requests.pop((rank, e.request_id), None) != "receive":
                        differs("a receive that was never posted", rank, e.request_id)
                elif kind == "MpiIrecvRequest":
                    requests[rank, e.request_id] = "receive"
                elif kind == "MpiIsendComplete":
                    if requests.pop((rank, e.request_id), None) != "send":
                        differs("a send that was never posted is complete", rank, e.request_id)
                elif kind == "MpiCollectiveBegin":
                    begun[location] = e.time
                elif kind == "NonBlockingCollectiveRequest":
                    begun[rank, e.request_id] = e.time
                elif kind in ("MpiCollectiveEnd", "NonBlockingCollectiveComplete"):
                    key = location if kind == "MpiCollectiveEnd" else (rank, e.request_id)
                    operation = name_of(e.collective_op)
                    self.collective[rank, operation] += 1
                    if key not in begun:
                        differs("a collective operation ends that never began", rank, operation)
                        continue
                    instances[e.communicator][rank].append((begun.pop(key), e.time, e.collective_op, e.root))
                elif kind in ("RmaPut", "RmaGet", "RmaAtomic"):
                    self.rma[rank, kind, e.remote] += 1
                    operations[rank, e.matching_id] = kind
                elif kind.startswith("RmaOpComplete"):
                    if (rank, e.matching_id) not in operations:
                        differs("an access is complete that never was", rank, e.matching_id)
                elif kind == "IoOperationBegin":
                    self.files[rank, name_of(e.mode)] += 1
                    self.file_bytes[rank, name_of(e.mode)] += e.bytes_request
                    open_io[rank, e.matching_id] = e
                elif kind == "IoOperationComplete":
                    if open_io.pop((rank, e.matching_id), None) is None:
                        differs("a file operation is complete that never began", rank, e.matching_id)
        for location, stack in stacks.items():
            if stack:
                differs("never left", self.rank[location], [r.name for r in stack])
        self.match(sends, receives)
        self.gather(instances)

    def definitions(self, archive):
        self.rank = {}
        for location in archive.definitions.locations:
            name = location.group.name  # of another world: "Rank 0 of …", without events
            self.rank[location] = int(name.rsplit(" ", 1)[1]) if name.startswith("MPI Rank ") else name
        self.communicators = len(archive.definitions.comms)

    def member(self, comm, index, rank):
        if hasattr(comm, "groupA"):
            a, b = comm.groupA.members, comm.groupB.members
            group = b if any(self.rank[m] == rank for m in a) else a
            return self.rank[group[index]]
        if comm.group.group_type == otf2.enums.GroupType.COMM_SELF:
            return rank
        return self.rank[comm.group.members[index]]

    def match(self, sends, receives):
        self.pairs = 0
        for key in set(sends) | set(receives):
            s, r = sends.get(key, []), receives.get(key, [])
            name = (key[0].name,) + key[1:]
            if len(s) != len(r):
                differs("messages without their other end (communicator, from, to, tag)", name, len(s), len(r))
            # nonblocking receives may be completed in another order than posted: the sizes are the same, as a set
            if Counter(b for _, b in s) != Counter(b for _, b in r):
                differs("bytes sent and received", name, sorted(s)[:3], sorted(r)[:3])
            for (sent, _), (received, _) in zip(sorted(s), sorted(r)):
                self.pairs += 1
                if received <= sent:
                    differs("received before it was sent", name, sent, received)

    def gather(self, instances):
        self.operations = 0
        for comm, ranks in instances.items():
            free = lambda one: [o for o in one if o[2] != CollectiveOp.DESTROY_HANDLE]
            lists = [free(one) for one in ranks.values()]
            if comm.group.group_type == otf2.enums.GroupType.COMM_SELF if hasattr(comm, "group") else False:
                continue
            if len({len(one) for one in lists}) > 1:
                differs("collective operations of members", comm.name, {r: len(one) for r, one in ranks.items()})
                continue
            for one in zip(*(sorted(l) for l in lists)):
                self.operations += 1
                if len({o[2] for o in one}) > 1:
                    differs("members disagree what operation it is", comm.name, [name_of(o[2]) for o in one])
                elif one[0][2] in ALL and not hasattr(comm, "groupA") and max(o[0] for o in one) >= min(o[1] for o in one):
                    differs("somebody left before the last one entered", comm.name, name_of(one[0][2]), max(o[0] for o in one), min(o[1] for o in one))


def compare(what, want, have, part):
    keys = set(want) | set(have)
    for k in sorted(keys, key=str):
        w, h = want.get(k, 0), have.get(k, 0)
        if h > w or not part and h != w:
            differs(what, k, "calls: %d" % w, "archive: %d" % h)


def main():
    part = len(sys.argv) > 3
    archive, calls = Archive(sys.argv[1]), Calls(sys.argv[2])
    part = part or calls.unfinished
    compare("calls of a function", calls.functions, archive.functions, part)
    compare("messages sent", calls.sent, archive.sent, part)
    compare("messages received", calls.received, archive.received, part)
    compare("collective operations", calls.collective, archive.collective, part)
    compare("one-sided operations", calls.rma, archive.rma, part)
    compare("file operations", calls.files, archive.files, part)
    for k, n in calls.file_bytes.items():
        if n < 1 << 60 and not part and archive.file_bytes[k] != n:
            differs("bytes of files", k, n, archive.file_bytes[k])
    for (s, d, what), n in calls.world.items():
        if what == "messages" and not calls.world[s, d, "derived"] and not part:
            for unit in ("messages", "bytes"):
                if archive.world[s, d, unit] != calls.world[s, d, unit]:
                    differs(unit + " from and to", (s, d), calls.world[s, d, unit], archive.world[s, d, unit])
    if problems:
        print("%d problems" % len(problems), *problems[:20], sep="\n")
        sys.exit(1)
    print("%d events: %d calls, %d messages, %d collective, %d one-sided, %d file operations, %d communicators" % (
        archive.events, sum(archive.functions.values()), archive.pairs, archive.operations, sum(archive.rma.values()),
        sum(archive.files.values()), archive.communicators))


main()
