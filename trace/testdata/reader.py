"""A second reader of trace files, written from docs/format.md: prints every call as package trace's Event.AppendJSON.

usage: reader.py FILE... [--ranks]    needs the zstd command
"""
import copy
import itertools
import json
import os
import struct
import subprocess
import sys

M64 = (1 << 64) - 1


def xxh64(data):
    p1, p2, p3, p4, p5 = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579,
                          2870177450012600261)
    rot = lambda x, r: ((x << r) | (x >> (64 - r))) & M64
    rnd = lambda acc, x: rot((acc + x * p2) & M64, 31) * p1 & M64
    i, n = 0, len(data)
    if n >= 32:
        v = [(p1 + p2) & M64, p2, 0, -p1 & M64]
        while i + 32 <= n:
            for k, x in enumerate(struct.unpack_from("<4Q", data, i)):
                v[k] = rnd(v[k], x)
            i += 32
        h = sum(rot(x, r) for x, r in zip(v, (1, 7, 12, 18))) & M64
        for x in v:
            h = ((h ^ rnd(0, x)) * p1 + p4) & M64
    else:
        h = p5
    h = (h + n) & M64
    while i + 8 <= n:
        h = (rot(h ^ rnd(0, struct.unpack_from("<Q", data, i)[0]), 27) * p1 + p4) & M64
        i += 8
    if i + 4 <= n:
        h = (rot(h ^ struct.unpack_from("<I", data, i)[0] * p1 & M64, 23) * p2 + p3) & M64
        i += 4
    for b in data[i:]:
        h = rot(h ^ b * p5 & M64, 11) * p1 & M64
    h = (h ^ h >> 33) * p2 & M64
    h = (h ^ h >> 29) * p3 & M64
    return h ^ h >> 32


def int64(x):
    return ((x + (1 << 63)) & M64) - (1 << 63)


def unzigzag(x):
    return x >> 1 if x & 1 == 0 else -(x + 1 >> 1)


class Input:
    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, n):
        assert self.at + n <= len(self.data), "truncated"
        self.at += n
        return self.data[self.at - n:self.at]

    def varint(self):
        x = shift = 0
        while True:
            b = self.bytes(1)[0]
            x |= (b & 0x7f) << shift
            shift += 7
            if b < 0x80:
                return x

    def signed(self):
        return unzigzag(self.varint())

    def plain_grammar(self):
        rules = [[self.varint() for _ in range(n)] for n in self.sequence()]
        exponents = iter(self.sequence())
        rules = [[(x, next(exponents) + 1) for x in body] for body in rules]

        def expand(i):
            for x, exponent in rules[i]:
                for _ in range(exponent):
                    if x & 1 == 0:
                        yield x >> 1
                    else:
                        yield from expand((x >> 1) + i + 1)
        return expand(0)

    def sequence(self):
        n, values, value = self.varint(), [], 0
        while len(values) < n:
            head = self.varint()
            if head < 2:
                dictionary = self.sequence()
                for terminal in self.plain_grammar():
                    value = int64(head * value + dictionary[terminal])
                    values.append(value)
                return values
            kind, m = head & 3, head >> 2
            if kind == 0:
                value = int64(value + self.signed())
                values += [value] * m
            elif kind == 1:
                value, step = int64(value + self.signed()), self.signed()
                values += [int64(value + i * step) for i in range(m)]
                value = values[-1]
            else:
                for _ in range(m):
                    value = self.signed() if kind == 2 else int64(value + self.signed())
                    values.append(value)
        return values

    def strings(self):
        lengths = [self.varint() for _ in range(self.varint())]
        self.table = [self.bytes(n).decode() for n in lengths]
        return self

    def text(self):
        return self.table[self.varint()]

    def texts(self):
        return [self.table[i] for i in self.sequence()]

    def lists(self):
        lengths = self.sequence()
        out = [[] for _ in lengths]
        for n in dict.fromkeys(n for n in lengths if n):
            group = [i for i, m in enumerate(lengths) if m == n]
            if n > len(group):
                for i in group:
                    out[i] = self.sequence()
            else:
                values = self.sequence()
                for j, i in enumerate(group):
                    out[i] = values[j::len(group)]
        return out

    def measured(self, alike):
        groups = {}
        for row, group in enumerate(alike):
            groups.setdefault(group, []).append(row)
        differences, column, mean = iter(self.sequence()), [0] * len(alike), 0
        for rows in groups.values():
            total = 0
            for n, row in enumerate(rows, 1):
                column[row] = next(differences) + mean
                total += column[row]
                mean = total // n
        return column

    def rank_list(self):
        ranks = []
        for _ in range(self.varint()):
            start, count, stride = self.signed(), self.varint(), self.signed()
            ranks += [start + i * stride for i in range(count)]
        return ranks

    def value(self):
        head = self.bytes(1)[0]
        form, x = head & 15, head >> 4
        if x == 15:
            x += self.varint()
        if form == 3:
            return form, struct.unpack("<d", self.bytes(8))[0]
        if form == 7 and x:
            return form, (x - 1, self.signed())
        if form in (2, 6, 10, 11, 12, 13, 15):
            return form, unzigzag(x)
        if form in (4, 5):
            return form, self.table[x]
        if form in (8, 9):
            return form, [self.value() for _ in range(x)]
        if form == 14 and x == 7:  # only in version 5
            return 8, [(2, v) for v in self.sequence()]
        if form == 14:
            return form, (x, [self.value() for _ in range(self.varint())])
        return form, None


class Mix:
    """The model of codec 2."""

    POINTS = (1, 2, 4, 6, 10, 17, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2048, 2549, 2994, 3348, 3607, 3785,
              3901, 3975, 4022, 4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094)

    @classmethod
    def squash(cls, x):
        if x > 2047:
            return 4095
        if x < -2047:
            return 1
        w, i = x & 127, (x >> 7) + 16
        return cls.POINTS[i] * (128 - w) + cls.POINTS[i + 1] * w + 64 >> 7

    def __init__(self):
        self.stretch = []
        for x in range(-2047, 2048):
            while len(self.stretch) <= self.squash(x):
                self.stretch.append(x)
        while len(self.stretch) < 4096:
            self.stretch.append(2047)
        self.slots = [{} for _ in range(8)]  # number -> [p, n]; a missing one is as primed
        self.primed = [{} for _ in range(8)]
        self.weights = [[1 << 14] * 10 for _ in range(4)]
        self.history, self.last = [0], {}
        self.bits, self.match, self.length = 1, 0, 0
        self.start()

    def start(self):
        back = lambda i: self.history[-i] if i <= len(self.history) else 0
        a, b, c, d = (back(i) for i in (1, 2, 3, 4))
        h = (0, a, a | b << 8, a | b << 8 | c << 16, a | b << 8 | c << 16 | d << 24, b | 1 << 8, b | c << 8, c | d << 8)
        m32 = (1 << 32) - 1
        self.hashes = [(x + k * 0x9e3779b9) * 0x2545f491 & m32 for k, x in enumerate(h)]
        self.hashes = [x ^ x >> 15 for x in self.hashes]
        self.hashes[4] = (self.hashes[4] + back(5)) * 0x2545f491 & m32
        self.predict()

    def slot(self, k, number):
        s = self.slots[k].get(number)
        if not s:
            s = self.slots[k][number] = list(self.primed[k].get(number, (1 << 15, 0)))
        return s

    def predict(self):
        n = self.bits.bit_length() - 1
        nibble = self.bits if n < 4 else self.bits & (1 << n - 4) - 1 | 1 << n - 4
        if nibble == 1:
            self.lines = [((h + self.bits * 0x9e3779b1) * 0x85ebca6b & (1 << 32) - 1) >> 17 & ~15 for h in self.hashes]
        self.used = [self.slot(k, line + nibble) for k, line in enumerate(self.lines)]
        self.inputs = [self.stretch[s[0] >> 4] for s in self.used] + [0, 64]
        if self.match:
            expected = self.history[self.match] | 256
            if expected >> 8 - n == self.bits:
                x = min(self.length, 15) * 64
                self.inputs[8] = x if expected >> 7 - n & 1 else -x
        dot = sum(x * w for x, w in zip(self.inputs, self.weights[min(self.length, 3)]))
        self.p = self.squash(max(-2047, min(2047, dot >> 16)))

    def update(self, bit):
        e = ((bit << 12) - self.p) * 2
        w = self.weights[min(self.length, 3)]
        for k, x in enumerate(self.inputs):
            w[k] += x * e + 2048 >> 12
        for s in self.used:
            error = 2 * (bit * 65535 - s[0])
            s[0] += error // (2 * s[1] + 3) if error >= 0 else -(-error // (2 * s[1] + 3))
            s[1] = min(s[1] + 1, 60)
        self.bits = self.bits << 1 | bit
        if self.bits < 256:
            return self.predict()
        b, self.bits = self.bits & 255, 1
        if self.match and self.history[self.match] == b:
            self.match, self.length = self.match + 1, self.length + 1
        else:
            self.match = self.length = 0
        self.history.append(b)
        h, n = self.history, len(self.history)
        if n > 4:
            key = tuple(h[-3:])
            at = self.last.get(key, 0)
            if not self.match and at:
                self.match, self.length = at, 1
                while self.length < 15 and self.length < at and h[at - 1 - self.length] == h[n - 1 - self.length]:
                    self.length += 1
            self.last[key] = n
        self.start()

    PRIMED = None

    @classmethod
    def decode(cls, data, length):
        if not cls.PRIMED:
            cls.PRIMED = cls()
            with open(os.path.join(os.path.dirname(__file__), "..", "codec", "names.txt"), "rb") as f:
                for b in f.read():
                    for i in range(7, -1, -1):
                        cls.PRIMED.update(b >> i & 1)
            for s in cls.PRIMED.slots:
                for slot in s.values():
                    slot[1] = min(slot[1], 1)
        m = copy.copy(cls.PRIMED)
        m.primed, m.slots = m.slots, [{} for _ in range(8)]
        m.weights, m.history, m.last = copy.deepcopy(m.weights), list(m.history), dict(m.last)
        m.start()
        data, out = data + bytes(4), []
        low, high, x, at = 0, (1 << 32) - 1, int.from_bytes(data[:4], "big"), 4
        for _ in range(length):
            c = 0
            for _ in range(8):
                middle = low + ((high - low) * m.p >> 12)
                bit = int(x <= middle)
                low, high = (low, middle) if bit else (middle + 1, high)
                c = c << 1 | bit
                m.update(bit)
                while (low ^ high) >> 24 == 0:
                    low, high = low << 8 & (1 << 32) - 1, (high << 8 & (1 << 32) - 1) | 255
                    x = (x << 8 & (1 << 32) - 1) | (data[at] if at < len(data) else 0)
                    at += 1
            out.append(c)
        return bytes(out)


def unpack(codec, content, length):
    if codec == 1:
        content = subprocess.run(["zstd", "-dc"], input=content, stdout=subprocess.PIPE, check=True).stdout
    if codec == 2:
        content = Mix.decode(content, length)
    assert len(content) == length
    return Input(content)


def block(data, offset, size):
    i = Input(data[offset:offset + size])
    kind, codec = i.bytes(2)
    length, stored = i.varint(), i.varint()
    head = i.data[:i.at]
    (checksum,) = struct.unpack("<I", i.bytes(4))
    content = i.bytes(stored)
    assert i.at == size and xxh64(head + content) & 0xffffffff == checksum, "damaged block"
    return kind, unpack(codec, content, length)


class Model:
    """A model of the next of 16 symbols: below[s] is the cumulative frequency below symbol s, of 2^15."""
    SLOWER, STAGES = (2, 5, 12, 30), (1, 3, 10, 30)
    COARSE = (70, 15), (80, 10), (90, 5), (97, 1), (200, 1)
    FINE = (30, 19, 10, 5, 3, 1), (40, 16, 8, 4, 2, 1), (60, 11, 5, 3, 1), (85, 4, 2, 1), (190, 3, 1, 1)

    def __init__(self, parent, step):
        self.parent, self.step, self.seen, self.follow = parent, step, 0, {}  # step 0: coarse
        self.below = parent.expected() if parent else [s * 2048 for s in range(16)]

    def expected(self):
        if self.seen >= 48 or not self.parent:
            return self.below
        theirs = 32 * 8 // (8 + self.seen)
        return [m * (32 - theirs) + p * theirs >> 5 for m, p in zip(self.below, self.parent.expected())]

    def learn(self, symbol):
        seen = self.seen
        spread, step = (self.FINE, self.step) if self.step else (self.COARSE, 1)
        spread = spread[sum(seen >= n for n in self.STAGES)]
        weights = [0] * 16
        for i, w in enumerate(spread):
            for s in {symbol - i * step, symbol + i * step} & set(range(16)):
                weights[s] = w
        to, at = [], 0
        for w in weights:
            to.append(at)
            at += 1 + (32768 - 16) * w // sum(weights)
        rate = 1 + sum(seen >= n for n in self.SLOWER)
        self.below = [m + (t - m >> rate) for m, t in zip(self.below, to)]
        self.seen = min(seen + 1, 255)
        if seen < 32 and self.parent:
            self.parent.learn(symbol)

    def after(self, symbol, step):
        if symbol not in self.follow:
            parent = self.parent and self.parent.after(symbol, step)
            self.follow[symbol] = Model(parent, 0 if symbol == 15 else step)
        return self.follow[symbol]


class Timing:
    """The times of a block's calls."""

    def __init__(self, trace, content):
        content.signed()
        self.trace, self.data = trace, content.data[content.at:]
        self.x, self.at = self.word(self.word(0, 0), 2), 4
        self.models, self.contexts, self.grids = {}, 0, {}

    def word(self, x, at):
        return x << 16 | int.from_bytes(self.data[at:at + 2], "little")

    def take(self, start, size):
        self.x = size * (self.x >> 15) + (self.x & 32767) - start
        if self.x < 1 << 16:
            assert self.at + 2 <= len(self.data), "timing ends too early"
            self.x = self.word(self.x, self.at)
            self.at += 2

    def bits(self, n):
        v = 0
        while n:
            k = min(n, 15)
            n -= k
            x = (self.x & 32767) >> 15 - k
            self.take(x << 15 - k, 1 << 15 - k)
            v = v << k | x
        return v

    def symbol(self, model):
        below = model.expected() + [32768]
        place = self.x & 32767
        symbol = max(s for s in range(16) if below[s] <= place)
        self.take(below[symbol], below[symbol + 1] - below[symbol])
        model.learn(symbol)
        return symbol

    def model(self, key, parent, counted=False):
        if key not in self.models:
            if counted and self.contexts == 4096:
                return parent
            self.contexts += counted
            self.models[key] = Model(parent, 0)
        return self.models[key]

    def call(self, terminal, before):
        t = self.trace
        function = t.signatures[terminal][0] & 65535
        percent = t.errors.get(t.functions[function][0], t.error) if t.mode == "lossy" else 0
        previous = t.signatures[before][0] & 65535 if before >= 0 else -1
        pair = self.model(("gap", function, previous), self.model(("gaps", percent), None))
        gap = self.model(("gap of", terminal, before), pair, True)
        mine = self.model(("duration", function), self.model(("durations", percent), None))
        duration = self.model(("duration of", terminal), mine, True)
        return self.interval(gap, percent), self.interval(duration, percent)

    def interval(self, model, percent):
        step = 2 if percent else 1
        coarse = symbol = self.symbol(model)
        while symbol == 15:
            model = model.after(symbol, step)
            symbol = self.symbol(model)
            coarse += symbol
        if coarse == 0:
            return unzigzag(self.bits(self.bits(7)))
        number = (coarse - 1) * 16 + self.symbol(model.after(symbol, step))
        if percent:
            value, step = self.grid(percent)[number], 0
            if number + 1 < len(self.grid(percent)):
                step = self.grid(percent)[number + 1] - value
            if step > 131072:
                value += self.bits(((step - 1) // 32768).bit_length()) * 32768
            return value
        if number < 32:
            return number
        n = (number - 32) // 16 + 1
        return (number % 16 + 16) << n | self.bits(n)

    def grid(self, percent):
        if percent not in self.grids:
            values = [0, 1]
            while values[-1] < 1 << 56:
                values.append(max(values[-1] + 1, values[-1] + values[-1] * percent // 100))
            self.grids[percent] = values
        return self.grids[percent]


class Trace:
    versions = 3, 5

    def blocks(self, data):
        assert data[:7] == b"CAIRN\x1a\n" and data[7] in self.versions and data[-4:] == b"NRAC"
        (length,) = struct.unpack("<I", data[-8:-4])
        kind, index = block(data, len(data) - 8 - length, length)
        assert kind == 127
        self.sections, self.sequences, self.readings, self.timing, self.chunks, self.chapters, offset = {}, {}, {}, {}, {}, {}, 8
        for kind, size, key, part in zip(*[index.sequence() for _ in range(4)]):
            offset += size
            if kind == 126:  # not a block of this trace
                continue
            _, content = block(data, offset - size, size)
            if kind == 20:
                while content.at < len(content.data):
                    kind, codec = content.bytes(2)
                    length = content.varint()
                    self.section(kind, 0, 0, unpack(codec, content.bytes(content.varint()), length))
            else:
                self.section(kind, key, part, content)

    def __init__(self, data):
        self.blocks(data)
        s = self.sections[1].strings()
        s.varint(), s.text()
        self.size = s.varint()
        [s.text() for _ in range(5)]
        self.mode, self.error = s.text(), s.varint()
        self.errors = {s.text(): s.varint() for _ in range(s.varint())}
        s = self.sections[2].strings()
        self.functions, self.classes = {}, {}
        for _ in range(s.varint()):
            number = s.varint()
            name, self.classes[number], result = s.text(), s.text(), s.text()
            parameters = [(s.text(), s.text(), s.varint()) for _ in range(s.varint())]
            self.functions[number] = name, result, parameters
        self.sites = []
        if 3 in self.sections:
            s = self.sections[3].strings()
            s.varint()
            self.sites = list(zip(s.texts(), s.texts(), s.sequence(), s.texts(), s.texts(), s.sequence()))
            self.callers = s.sequence() if s.at < len(s.data) else [0] * len(self.sites)
        self.segments = []
        if 14 in self.sections:
            s = self.sections[14]
            s.varint()
            self.segments = list(zip(s.sequence(), s.sequence(), s.sequence(), s.sequence(), s.sequence()))
        s = self.sections[4].strings()
        self.signatures = []
        for _ in range(s.varint()):
            function, site, own, result = s.varint(), s.varint(), s.signed(), s.value()
            ins = [s.value() for _ in range(s.varint())]
            outs = [s.value() for _ in range(s.varint())]
            self.signatures.append((function, site, own, result, ins, outs, s.value()))
        self.complete_signatures()
        s = self.sections[5].strings()
        self.communicators = []
        s.varint()
        names, members, remote = s.texts(), s.lists(), s.lists()
        expand = lambda l: [l[k] + i * l[k + 2] for k in range(0, len(l), 3) for i in range(l[k + 1])]
        self.communicators = [(name, expand(m), expand(r)) for name, m, r in zip(names, members, remote)]
        s = self.sections[6]
        which, bodies, exponents = s.sequence(), s.lists(), iter(s.sequence())
        self.rules = [[None] * len(bodies[k]) for k in which]
        for n, body in enumerate(bodies):
            for k, x in sorted(enumerate(body), key=lambda e: e[1]):
                for rule in [i for i, w in enumerate(which) if w == n]:
                    self.rules[rule][k] = x, next(exponents) + 1
        self.chaptered = {}
        if 30 in self.sections:
            s = self.sections[30]
            for row, count, calls, names in zip(s.sequence(), s.sequence(), s.sequence(), s.lists()):
                self.chaptered[row] = [names[x] - 1 for k in range(count) for x in self.chapters[row, k]]
                assert len(self.chaptered[row]) == calls
        self.columns = self.sections[15].lists() if 15 in self.sections else []
        s = self.sections[9].strings()
        n = s.varint()
        ranks = s.sequence()
        [s.texts() for _ in range(3)]
        boots, pids, _, _, _, kinds, rate = s.texts(), s.sequence(), s.texts(), s.texts(), s.sequence(), s.texts(), s.varint()
        counts, ticks, monotonic = s.sequence(), s.sequence(), s.sequence()
        self.boots, self.pids = boots, pids
        self.clocks, at, first, last = {}, 0, {}, {}
        for rank, boot, kind, count in zip(ranks, boots, kinds, counts):
            if count < 0:
                self.clocks[rank] = kind, last[boot]
                continue
            t, m = first.get(boot, (0, 0))
            samples = []
            for i in range(at, at + count):
                expected = (abs(ticks[i]) * rate >> 32) * (1 if ticks[i] > 0 else -1)
                t, m = t + ticks[i], int64(m + expected + monotonic[i])
                if i == at:
                    first[boot] = t, m
                if not samples or t > samples[-1][0] and m >= samples[-1][1]:
                    samples.append((t, m))
            at += count
            if count:
                last[boot] = samples
            self.clocks[rank] = kind, samples
        s = self.sections[10].strings()
        s.varint()
        ranks_of, threads, shape, first, roots = [s.sequence() for _ in range(5)]
        place, self.threads = {}, []
        for rank, thread, k, root in zip(ranks_of, threads, shape, roots):
            self.threads.append((rank, thread, first[k] + root, place.get(k, 0)))
            place[k] = place.get(k, 0) + 1
        own, lists = s.sequence(), s.lists()
        self.own = {rank: lists[i] for rank, i in zip(ranks, own)}
        s = self.sections[7].strings()
        s.varint()
        mine, sets, assignments = s.sequence(), s.lists(), s.lists()
        self.streams = []
        for i in mine:
            names, sequences = sets[assignments[i][0]], assignments[i][1:]
            n = len(sequences)
            self.streams.append({(names[k], names[n + k]): sequences[k] for k in range(n)})
        if 23 in self.sections:
            s = self.sections[23]
            for i, chunks in zip(s.sequence(), s.lists()):
                self.sequences[i] = [x for k in chunks for x in self.chunks[k]] + self.sequences[i]
        self.first = self.sections[11].strings().sequence()
        self.marks, self.stand_ins, self.holds = {}, {}, {}
        if 19 in self.sections:
            self.clustering(self.sections[19].strings())
        self.leads = self.sections[18].sequence() if 18 in self.sections else range(len(self.threads))

    def section(self, kind, key, part, content):
        if kind in (8, 17):
            numbers = content.sequence() if kind == 17 else None
            if kind == 17:
                self.readings.update(zip(numbers, zip(content.sequence(), content.sequence(), content.sequence())))
            lengths = content.sequence()
            for i, n in zip(numbers or range(key, key + len(lengths)), lengths):
                if n:
                    self.sequences[i] = Input(content.bytes(n)).sequence()
        elif kind == 12:
            self.timing[key, part] = content
        elif kind == 24:
            self.chunks[part] = content.sequence()
        elif kind == 28:
            self.chapters[key, part] = list(content.plain_grammar())
        else:
            self.sections[kind] = content

    def ranks(self):
        """The measurements of each rank: context, evidence, the cost of tracing, and pressures."""
        context, evidence, outliers, threads, tracers, pressures = [[[] for _ in self.pids] for _ in range(6)]
        if 13 in self.sections:
            s = self.sections[13].strings()
            [s.text() for _ in range(s.varint())]
            s.varint(), s.texts(), s.varint()
            rows = Rows(s, self.boots)
            names = "MonotonicNS CPUNS VoluntarySwitches InvoluntarySwitches ThrottledPeriods ThrottledNS RunDelayNS StealNS".split()
            table = [s.measured(rows.moments)] + [s.measured(rows.first) for _ in names[1:]] if rows.rank else [[] for _ in names]
            cpus = s.sequence() if rows.rank else []
            for i, rank in enumerate(rows.rank):
                known = [0] * len(names) if rows.first[i] else known
                sample = {"CPU": cpus[i]}
                for k, name in enumerate(names):
                    code = table[k][i]
                    known[k] += (code << 8 if k == 0 and rows.first[i] else unrounded(code)) if code >= 0 else 0
                    sample[name] = -1 if code < 0 else known[k] << (16 if name.endswith("NS") else 0)
                context[rank].append(sample)
        if 21 in self.sections:
            s = self.sections[21].strings()
            s.varint()
            numbers, calls = s.sequence(), [[{"Function": f, "Site": c} for f, c in zip(s.sequence(), s.sequence())] for _ in range(2)]
            s.varint()
            rows = Rows(s, self.boots)
            steps = s.sequence() if rows.rank else []
            places = []
            for step, first in zip(steps, rows.first):
                places.append(step if first else places[-1] + 1 + step)
            columns = [s.measured(places) for _ in range(8)] if rows.rank else []
            for i, rank in enumerate(rows.rank):
                count, wall, off, delay, other, size, io, data = [c[i] for c in columns]
                p = places[i]
                evidence[rank].append({
                    "Thread": numbers[p], "After": calls[0][p], "Before": calls[1][p], "Count": unrounded(count), **times(wall, off, delay),
                    "OtherCPUNS": nanoseconds(other), "IOBytes": unrounded(size), "IOCalls": unrounded(io), "DataNS": nanoseconds(data)})
            rows = Rows(s, self.boots)
            of = s.sequence() if rows.rank else []
            columns = [s.measured(rows.moments) for _ in range(5)] if rows.rank else []
            for i, rank in enumerate(rows.rank):
                step, wall, off, delay, size = [c[i] for c in columns]
                moment = step if rows.first[i] else moment + step
                outliers[rank].append({"Row": of[i], "BeginNS": moment << 16, **times(wall, off, delay), "IOBytes": unrounded(size)})
            rows = Rows(s, self.boots)
            flags, names = (s.sequence(), s.texts()) if rows.rank else ([], [])
            columns = [s.measured(flags) for _ in range(3)] if rows.rank else []
            for i, rank in enumerate(rows.rank):
                tid, cpu, delay = [c[i] for c in columns]
                threads[rank].append({
                    "TID": self.pids[rank] + tid, "Name": names[i], "CPUNS": nanoseconds(cpu), "RunDelayNS": nanoseconds(delay),
                    "CallsMPI": flags[i] & 1 > 0, "Tool": flags[i] & 2 > 0})
        for rank in evidence + outliers:
            for row in rank:
                row.update(dict.fromkeys(USAGE, -1))
        if 33 in self.sections:
            s = self.sections[33]
            for table, alike in (evidence, places), (outliers, None):
                rows = [row for rank in table for row in rank]
                n = s.varint()
                columns = [s.measured(alike or [0] * n) for _ in USAGE] if n else []
                for name, column in zip(USAGE, columns):
                    for row, code in zip(rows, column):
                        row[name] = nanoseconds(code) if name == "SystemNS" else unrounded(code)
        if 31 in self.sections:
            s = self.sections[31]
            rows = Rows(s, self.boots)
            columns = [s.measured([0] * len(rows.rank)) for _ in range(7)] if rows.rank else []
            cpu = self.sections[37].measured([0] * len(rows.rank)) if 37 in self.sections else [0] * len(rows.rank)
            for i, rank in enumerate(rows.rank):
                stalls, all, longest, *size = [c[i] for c in columns]
                names = ["MemoryBytes", "MostMemory", "MostSpool", "WrittenBytes"]
                tracers[rank].append({
                    "Stalls": unrounded(stalls), "StalledNS": nanoseconds(all), "LongestStallNS": nanoseconds(longest),
                    "CPUNS": nanoseconds(cpu[i]),
                    **{name: unrounded(x) << 16 for name, x in zip(names, size)}})
        if 35 in self.sections:
            s = self.sections[35]
            rows = Rows(s, self.boots)
            columns = [s.measured([0] * len(rows.rank)) for _ in range(5)] if rows.rank else []
            for i, rank in enumerate(rows.rank):
                memory, io, *counts = [c[i] for c in columns]
                pressures[rank] = [nanoseconds(memory), nanoseconds(io), *map(unrounded, counts)]
        suspensions = [[0, 0] for _ in pressures]
        if 38 in self.sections:
            s = self.sections[38]
            has = s.sequence()
            columns = [s.sequence() for _ in range(2)]
            for rank, *counts in zip((i for i, n in enumerate(has) if n), *columns):
                suspensions[rank] = counts
        names = "Context", "Evidence", "Outliers", "Threads", "Tracer", "Pressure", "Suspensions"
        return [dict(zip(names, r)) for r in zip(context, evidence, outliers, threads, tracers, pressures, suspensions)]

    def called(self, row, root):
        first = self.chaptered.get(row, [])
        yield from first
        yield from itertools.islice(self.terminals(root), len(first), None)

    def terminals(self, rule):
        for x, exponent in self.rules[rule]:
            for _ in range(exponent):
                if x & 1 == 0:
                    yield x >> 1
                else:
                    yield from self.terminals(len(self.rules) - 1 - (x >> 1))

    def nanoseconds(self, rank, t):
        kind, samples = self.clocks[rank]
        if kind == "monotonic" or not samples:
            return t
        if len(samples) == 1:
            return samples[0][1] + t - samples[0][0]
        at, a, b = samples[0], samples[0], samples[-1]
        if t >= b[0]:
            at = b
        elif t >= a[0]:
            a, b = next((a, b) for a, b in zip(samples, samples[1:]) if t < b[0])
            at = a
        return at[1] + (t - at[0]) * (b[1] - a[1]) // (b[0] - a[0])

    @staticmethod
    def seconds(coded, form, unit, ns):
        """The value of a clock reading that is stored relative to the end of its call."""
        if form == 1:
            return (ns + coded * unit) / 1e9
        n, last = divmod(coded, 2 * unit + 1)
        (bits,) = struct.unpack("<q", struct.pack("<d", (ns + n) / 1e9))
        return struct.unpack("<d", struct.pack("<q", bits + last - unit))[0]

    def clustering(self, s):
        s.varint()
        n = s.varint()
        states, explicit, ordinals, leads = (s.sequence() for _ in range(4))
        s.sequence(), s.varint()
        counts, differences = s.sequence(), iter(s.sequence())
        for row, n in enumerate(counts):
            self.marks[row] = list(itertools.accumulate(itertools.islice(differences, n)))
        counts, columns = s.sequence(), [iter(s.sequence()) for _ in range(4)]
        for row, n in enumerate(counts):
            votes, *others = ([next(c) for _ in range(n)] for c in columns)
            self.stand_ins[row] = list(zip(itertools.accumulate(votes), *others))
        counts, differences, ticks = s.sequence(), iter(s.sequence()), iter(s.sequence())
        for row, n in enumerate(counts):
            self.holds[row] = dict(zip(itertools.accumulate(itertools.islice(differences, n)), ticks))

    def own_times(self, row):
        """Gap, duration and extrapolation (its row, or none) of each call."""
        stood = {}
        for vote, lead, gap, duration in self.stand_ins.get(row, []):
            for index in range(*self.marks[row][vote - 1:vote + 1]):
                stood[index] = vote, lead, gap, duration
        for index, terminal in enumerate(self.called(row, self.threads[row][2])):
            if index % 65536 == 0:
                timing, last = Timing(self, Input(self.timing[row, index // 65536].data)), -1
            if index in stood:
                last = -1
                yield 0, 0, stood[index]
            else:
                yield *timing.call(terminal, last), None
                last = terminal

    def times(self, row):
        """Gap and duration of each call, and the rank that they come from."""
        rank, thread = self.threads[row][:2]
        done = None
        for gap, duration, stood in self.own_times(row):
            if not stood:
                yield gap, duration, rank
            elif stood != done:
                done, (vote, lead, gaps, durations) = stood, stood
                first, end = self.marks[row][vote - 1:vote + 1]
                n, of = end - first, next((i for i, t in enumerate(self.threads) if t[:2] == (lead, thread)), None)
                theirs = self.marks[of][vote - 1:vote + 1] if of is not None else []
                if len(theirs) == 2 and theirs[1] - theirs[0] == n:
                    times = [(g, d) for g, d, _ in itertools.islice(self.own_times(of), *theirs)]
                else:
                    lead, times = -1, [(1, 1)] * n
                spread = zip(self.spread([g for g, _ in times], gaps), self.spread([d for _, d in times], durations))
                yield from ((g, d, lead) for g, d in spread)

    def complete_signatures(self):
        """Requests are differences, and statuses that are as expected have no fields."""
        last, status_of, made, sizes = 0, {}, {}, {}

        def handle(v):
            nonlocal last
            if v[0] == 8:
                return 8, [handle(e) for e in v[1]]
            if v[0] == 6:
                last += v[1]
                return 6, last
            return v

        def status(request, v):
            request = request[1] if request[0] == 6 else None
            maker = made.get(request)
            if v == (9, []):
                if request in status_of:
                    v = status_of[request]
                else:
                    source, tag, count, datatype = maker
                    v = 9, [source, tag, (2, 0), (2, 0), (2, count * sizes[datatype])]
            status_of[request] = v
            if maker and maker[2] > 0 and len(v[1]) == 5 and v[1][4][0] == 2 and v[1][4][1] % maker[2] == 0:
                sizes[maker[3]] = v[1][4][1] // maker[2]
            return v

        for function, _, _, _, ins, outs, _ in self.signatures:
            parameters = self.functions[function & 65535][2]
            if not any(kind == "request" for _, kind, _ in parameters):
                continue
            places = []  # kind, list of values, index in it
            taken = [0, 0]
            for _, kind, direction in parameters:
                for k, (values, bit) in enumerate(((ins, 1), (outs, 2))):
                    if direction >> 1 & bit:
                        if taken[k] < len(values):
                            places.append((kind, values, taken[k]))
                        taken[k] += 1
            of = lambda kind: [(values, i) for k, values, i in places if k == kind]
            requests, statuses = of("request"), of("status")
            for values, i in requests:
                values[i] = handle(values[i])
            asked = [of(kind) for kind in ("rank", "tag", "count", "datatype")]
            if not statuses:
                request = requests[0][0][requests[0][1]] if len(requests) == 1 else (0, None)
                if request[0] == 6 and all(asked):
                    source, tag, count, datatype = (a[0][0][a[0][1]] for a in asked)
                    source = source if "recv" in self.classes[function & 65535] else (12, 0)
                    made[request[1]] = source, tag, count[1] if count[0] == 2 else 0, repr(datatype)
                    status_of.pop(request[1], None)
                continue
            if not requests:
                continue
            (values, i), (r, k) = statuses[0], requests[0]
            if values[i][0] == 9:
                values[i] = status(r[k], values[i])
            elif values[i][0] == 8 and r[k][0] == 8 and len(values[i][1]) == len(r[k][1]):
                values[i] = 8, [status(q, v) if v[0] == 9 else v for q, v in zip(r[k][1], values[i][1])]

    @staticmethod
    def spread(values, total):
        values = [max(v, 0) for v in values]
        if not sum(values):
            return [0] * (len(values) - 1) + [total]
        ends = [so * total // sum(values) for so in itertools.accumulate(values)]
        return [b - a for a, b in zip([0] + ends, ends)]

    def calls(self, row):
        rank, thread = self.threads[row][:2]
        row = self.leads[row]  # the row with the calls of the thread
        lead, _, root, place = self.threads[row]
        streams = {key: iter(self.sequences[i]) for key, i in self.streams[row].items()}
        handles, lists = {}, {}
        exit, times = self.first[row], self.times(row)
        for index, terminal in enumerate(self.called(row, root)):
            function, site, own, result, ins, outs, comm = self.signatures[terminal]
            name, result_type, parameters = self.functions[function & 65535]

            def take(v, kind, array):
                form, x = v
                pull = lambda: next(streams[terminal, x])
                real = lambda bits: (3, struct.unpack("<d", struct.pack("<q", bits))[0])
                if form == 14 and x[0] == 6:
                    return 16, next(streams[terminal, x[1][0][1]])
                if form == 10 and kind == "request":
                    return request(pull())
                if form == 11 and kind == "request":
                    values = pull()
                    if values < 0:
                        return 1, None
                    changes, n = values // 2, pull()
                    before = lists.setdefault((terminal, x), [])
                    before += [request(-1)] * (n - len(before))
                    for _ in range(changes):
                        position = pull()
                        before[position] = request(pull())
                    return 8, before[:n]
                if form == 10:
                    return real(pull()) if kind == "double" else (2, pull())
                if form == 11:
                    n = pull()
                    if n < 0:
                        return 1, None
                    values = [pull() for _ in range(n)]
                    if kind == "status":
                        statuses = [(9, [(2, v) for v in values[i:i + 5]]) for i in range(0, n, 5)]
                        return (8, statuses) if array else statuses[0] if statuses else (0, None)
                    return 8, [real(v) if kind == "double" else (2, v) for v in values]
                if form in (8, 9):
                    return form, [take(e, "" if form == 9 else kind, False) for e in x]
                return form, x

            reading = result[1] if result[0] == 10 else None
            result = take(result, result_type, False)
            coded = struct.unpack("<q", struct.pack("<d", result[1]))[0] if reading is not None and result[0] == 3 else 0
            before = {p: take(v, k, d & 1) for (p, k, d), v in zip([q for q in parameters if q[2] >> 1 != 2], ins)}
            after = {p: take(v, k, d & 1) for (p, k, d), v in zip([q for q in parameters if q[2] >> 1 != 1], outs)}
            first = next((before[p] for p, k, d in parameters if k == "comm" and not d & 1 and p in before), None)
            moved, members = 0, []  # distance by which the recorded peers of a lead are moved, size of the communicator
            if first == (5, "MPI_COMM_WORLD") or first is None:
                own, moved, members = rank, rank - lead, range(self.size)
            elif first == (5, "MPI_COMM_SELF"):
                own = 0
            elif first and first[0] in (2, 6) and first[1] in handles:
                _, members, remote = self.communicators[handles[first[1]]]
                own = (members if rank in members else remote).index(rank)
                theirs = self.communicators[self.own[lead][self.own[rank].index(handles[first[1]])]][1]
                if rank != lead and rank in members and lead in theirs:
                    moved = own - theirs.index(lead)

            def peer(v, of):
                if v[0] == 14 and v[1][0] == 4:
                    v = v[1][1][1 + self.columns[v[1][1][0][1]][place]]
                return (2, (of[1] + moved) % len(members)) if moved and of[0] == 2 and v[0] in (2, 15) else of

            def relative(v, kind=""):
                form, x = v
                if form in (12, 16):  # 16: a value of a relative stream, see take
                    return 2, own + x
                if form == 15:
                    return 2, self.columns[x][place]
                if form == 14:
                    operator, operands = x
                    n = [e[1] for e in operands]
                    if operator == 1:
                        return 2, (own + n[0]) % n[1]
                    if operator == 2:
                        at, rest, size = 0, own, 1
                        for extent, shift in reversed(list(zip(n[1:1 + n[0]], n[1 + n[0]:]))):
                            at += size * ((rest + shift) % extent)
                            rest, size = rest // extent, size * extent
                        return 2, at
                    if operator == 3:
                        a, b, c, d = n
                        return 2, a + b * (own // c % d if d else own // c)
                    return relative(operands[1 + self.columns[n[0]][place]] if operator == 4 else operands[1])
                if form in (8, 9):
                    return form, [told(e, "source" if form == 9 and not k else kind) for k, e in enumerate(x)]
                return v

            def told(v, kind):
                of = relative(v, kind)
                return meant(peer(v, of) if kind in ("rank", "source") and v[0] in (14, 15) else of, kind)

            kinds = {p: k for p, k, _ in parameters}
            result = told(result, result_type)
            before = {p: told(v, kinds[p]) for p, v in before.items()}
            after = {p: told(v, kinds[p]) for p, v in after.items()}
            if comm[0] == 10:
                made = self.own[rank][next(streams[terminal, comm[1]])]
                for p, k, d in parameters:
                    if k == "comm" and not d & 1 and p in after:
                        handles[after[p][1]] = made
                        break
            arguments = {}
            for p, kind, _ in parameters:
                i, o = before.get(p), after.get(p)
                if i and o and o[0] != 0 and i != o:
                    arguments[p] = {"in": self.show(i, kind), "out": self.show(o, kind)}
                else:
                    arguments[p] = self.show(i if o is None or i and o[0] == 0 else o, kind)
            call = {"rank": rank, "thread": thread, "index": index, "function": name, "args": arguments,
                    "return": self.show(result, result_type), "start_ns": None, "duration_ns": None}
            if (row, 0) in self.timing:
                gap, duration, times_of = next(times)
                enter = exit + self.holds.get(row, {}).get(index, 0) + gap
                exit = enter + duration
                call["start_ns"] = self.nanoseconds(rank, enter)
                call["duration_ns"] = self.nanoseconds(rank, exit) - call["start_ns"]
                form, unit, offset = self.readings.get(self.streams[row].get((terminal, reading)), (0, 0, 0))
                if form:
                    call["return"] = self.show((3, self.seconds(coded, form, unit, offset + self.nanoseconds(rank, exit))), result_type)
                if times_of != lead:
                    call["times_of"] = times_of
            if result[0] == 0:
                call["unfinished"] = True
            if function & 131072:
                call["status_ignored"] = True
            if function & 65536:
                call["untraced"] = True
            if site:
                call["call_site"], site = self.place(site), self.callers[site - 1]
                path = []
                while site:
                    path.append(self.place(site))
                    site = self.callers[site - 1]
                if path:
                    call["call_path"] = path
            yield call

    def show(self, v, kind):
        if v and v[0] == 13:  # a function of the program
            _, module, offset, name, _, _ = self.sites[v[1] - 1]
            return name or f"{module}+{offset - 1:#x}"
        return self.pointer(*v[1]) if v and v[0] == 7 and v[1] else show(v, kind)

    def place(self, site):
        build, module, offset, f, file, line = self.sites[site - 1]
        p = {"module": module, "build_id": build, "offset": offset}
        if f:
            p["function"] = f
        if file:
            p |= {"file": file, "line": line}
        return p

    def pointer(self, row, offset):
        kind, number, site, size, _ = self.segments[row]
        p = {"kind": SEGMENTS[kind], "segment": row, "offset": offset}
        if kind == 4:
            p["thread"] = number
        if kind in (5, 6, 7):
            p["device"] = number
        if size:
            p["size"] = size
        if site:
            p["allocated_at"] = self.place(site)
        return p


class Histograms(Trace):
    """A trace of histograms: version 4."""
    versions = 4,

    def __init__(self, data):
        self.blocks(data)
        s = self.sections[2].strings()
        self.functions = {}
        for _ in range(s.varint()):
            number = s.varint()
            self.functions[number], _, _ = s.text(), s.text(), s.text()
            for _ in range(s.varint()):
                s.text(), s.text(), s.varint()
        s = self.sections[32].strings()
        self.made_from = [s.varint() for _ in range(4)]
        self.duration = s.signed()
        self.lost, self.excluded = [[s.text() for _ in range(s.varint())] for _ in range(2)]
        clusters = [(s.rank_list(), s.varint(), s.varint()) for _ in range(s.varint())]
        calls = list(zip(*[s.sequence() for _ in range(6)]))
        after = iter(s.sequence())
        arguments = iter(list(zip(s.texts(), s.sequence(), s.sequence(), s.sequence())))
        names = iter(list(zip(s.texts(), s.sequence())))
        traffic = iter(list(zip(*[s.sequence() for _ in range(5)])))
        heads = iter(list(zip(*[s.sequence() for _ in range(6)])))
        first, width, counts = iter(s.sequence()), iter(s.sequence()), iter(s.sequence())
        assert s.at == len(s.data)

        def histogram(expected):
            present, missing, least, span, above, length = next(heads)
            count = expected - missing if present else 0
            if not count:
                return None
            bins, end, left = [], 0, count
            for k in range(length >> 1):
                low = end + next(first)
                end = low + next(width)
                n = left if k == (length >> 1) - 1 else next(counts)
                left -= n
                bins.append([signed_bin(low)[0], signed_bin(end)[1], n] if length & 1 else [low, end, n])
            if not bins:
                k = next(k for k in range(-250, 250) if signed_bin(k)[0] <= least <= signed_bin(k)[1]) if length & 1 else 0
                bins = [[*(signed_bin(k) if length & 1 else (least, least)), count]]
            return {"count": count, "sum": int64(above + count * least), "min": least, "max": least + span, "bins": bins}

        self.lines, calls = [], iter(calls)
        for number, (ranks, made, ways) in enumerate(clusters):
            cluster = {"cluster": number, "ranks": ranges(ranks)}
            for key in "thread_calls", "thread_span_ns", "thread_inside_ns":
                cluster[key] = histogram(len(ranks))
            cluster["traffic"] = []
            for low, more, messages, size, unsized in itertools.islice(traffic, ways):
                cluster["traffic"].append({"fixed": low & 1 == 1, "low": low >> 1, "high": (low >> 1) + more, "messages": messages,
                                           "bytes": size, "unsized": unsized})
            self.lines.append(cluster)
            for k, (function, site, n, unsized, gaps, args) in enumerate(itertools.islice(calls, made)):
                call = {"cluster": number, "number": k, "function": self.functions[function], "call_site": site, "calls": n,
                        "duration_ns": histogram(n)}
                size = histogram(n)
                call["gaps"] = [{"after": next(after), "ns": histogram(0)} for _ in range(gaps)]
                call |= {"bytes": size, "unsized": unsized, "args": []}
                for name, flags, many, others in itertools.islice(arguments, args):
                    call["args"].append({
                        "name": name, "result": flags & 1 == 1, "relative": flags & 2 == 2, "numbers": histogram(n), "lengths": histogram(n),
                        "names": [{"name": text, "count": n - less} for text, less in itertools.islice(names, many)], "others": others})
                self.lines.append(call)


def signed_bin(k):
    """The smallest and the largest number of a bin."""
    if k < 0:
        low, high = signed_bin(-1 - k)
        return -1 - high, -1 - low
    start = lambda b: b if b < 4 else (4 + b % 4) << (b // 4 - 1)
    return start(k), min(start(k + 1), 1 << 63) - 1


def ranges(ranks):
    """Ranks that ascend one by one, as text."""
    runs = []
    for rank in ranks:
        if runs and runs[-1][1] + 1 == rank:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


SEGMENTS = "? heap mapped static stack device managed pinned unknown".split()


class Rows:
    """Rows of a table of some ranks: the rank of each, whether it is its first, and the groups of similar times."""

    def __init__(self, s, boots):
        counts = s.sequence()
        self.rank = [rank for rank, n in enumerate(counts) for _ in range(n)]
        self.first = [k == 0 for n in counts for k in range(n)]
        self.moments = [boots[rank] if first else None for rank, first in zip(self.rank, self.first)]


USAGE = "MinorFaults MajorFaults VoluntarySwitches InvoluntarySwitches SystemNS".split()


def unrounded(code):
    return code if code < 64 else (64 + code % 64) << (code // 64 - 1)


def nanoseconds(code):
    return -1 if code < 0 else unrounded(code) << 13


def times(wall, off, delay):
    return {"WallNS": nanoseconds(wall), "CPUNS": nanoseconds(wall) - nanoseconds(wall - off), "RunDelayNS": nanoseconds(wall - off - delay)}


def request(x):
    return (6, x) if x >= 0 else (5, "MPI_REQUEST_NULL")


HANDLES = set("comm datatype op group win file info request message errhandler session keyval"
              " cvar-handle pvar-handle pvar-session enum event-registration event-instance".split())
MAY_BE_UNDEFINED = set("rank index count bytes extent int".split())


def meant(v, kind):
    """What a number stands for that is the value of a parameter of a kind."""
    if v[0] != 2:
        return v
    if kind == "request":
        return request(v[1])
    if kind in HANDLES:
        return 6, v[1]
    return (5, "MPI_UNDEFINED") if v[1] == -32766 and kind in MAY_BE_UNDEFINED else v


def show(v, kind):
    form, x = v or (0, None)
    if form in (0, 1):
        return None
    if form == 6:
        return f"{kind}#{x}"
    if form == 7:
        return "…"
    if form == 8:
        return [show(e, kind) for e in x]
    if form == 9:
        return {k: show(e, "") for k, e in zip(("source", "tag", "error", "cancelled", "bytes"), x)}
    return x


if __name__ == "__main__":
    ranks_only = sys.argv[-1] == "--ranks"
    for name in sys.argv[1:-1] if ranks_only else sys.argv[1:]:
        with open(name, "rb") as f:
            data = f.read()
        if data[7] in Histograms.versions:
            for line in Histograms(data).lines:
                print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
            continue
        t = Trace(data)
        if ranks_only:
            for rank in t.ranks():
                print(json.dumps(rank))
            continue
        for row in range(len(t.threads)):
            for call in t.calls(row):
                print(json.dumps(call, ensure_ascii=False, separators=(",", ":")))
