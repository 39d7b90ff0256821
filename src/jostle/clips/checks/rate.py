"""Is the frame rate right? Every piece of evidence is physics that a wrong rate breaks.

alpha = (true rate / claimed rate)^2 is what accelerations must be multiplied by to be true. Half a rate is alpha = 1/4,
so estimates of alpha that are off by less than a factor of two still tell the two apart; a rate that is off by less,
such as 25 for 30, cannot be seen. The evidence, the surest first:

* flight: the centre of mass falls at 9.81 m/s^2 / alpha while no foot touches the ground (`flight`);
* pendulum: the body falls over the one foot it stands on as an inverted pendulum does (`balance`);
* support: what holds the body up acts where its feet are (`balance`);
* cadence: nobody walks, without a flight phase, at more than about 190 full steps a minute;
* bobbing: while both feet stay flat on the ground for seconds, the body does not jerk up and down at 3 g a second. This
  one is weak: a boxer who bounces without ever lifting a heel would break it. It speaks up only where nothing else can
  be measured.

Measured on 131 takes of mocap whose rate is right: flights fall at 7 to 11.5 m/s^2; pendulums that say anything enclose
0.5 to 1.6; support is missed by up to 7 cm, or by more at every rate where people are pulled or fall; walking cadences
stay below 140; and over 4 s on flat feet the jerk stays below 1.6 g a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from jostle.clips.balance import Balance, measure_balance, pendulum, support_cost
from jostle.clips.checks.finding import Finding
from jostle.clips.clip import Clip
from jostle.clips.contacts import Contacts, find_contacts, runs
from jostle.clips.feet import body_size
from jostle.clips.flight import GRAVITY, centre_of_mass, derivative, find_flights
from jostle.skeleton import is_humanoid
from jostle.types import Array, Int

FACTORS = (0.25, 1 / 3, 0.5, 2.0, 3.0, 4.0)  # rates are mistaken by whole factors
_USUAL_SIZE = 1.7
_FASTEST_WALK = 190.0  # steps a minute at 1.7 m; shorter legs swing faster, by the square root
_FULL_STEP = 0.3  # of body height: how far a foot is carried, from where it stood to where it lands
_JERK = 3.0  # g a second, root mean square, vertical


@dataclass(frozen=True)
class Evidence:
    """`alpha` as one test sees it, and how much that is worth: a proof, likely, or a hint."""

    alpha: float
    worth: Literal["proof", "likely", "hint"]
    reason: str


def check_rate(clip: Clip) -> list[Finding]:
    """Frame rates that gravity contradicts, for people; nothing is known of other bodies' masses."""
    if not is_humanoid(clip.skeleton) or clip.frame_count < 30:
        return []
    evidence = weigh_rate(clip)
    against = [e for e in evidence if not 0.5 < e.alpha < 2.0]
    proofs = [e for e in against if e.worth == "proof"]
    if not against or (not proofs and len(against) < len(evidence)):
        return []  # where hints contradict each other, the file is believed
    rate = clip.fps * _whole(np.sqrt(np.median([e.alpha for e in (proofs or against)])))
    why = "; ".join(e.reason for e in (proofs or against))
    remedy = f"Set the rate to {rate:g} frames a second."
    if proofs:
        sentence = f"This is motion at {rate:g} frames a second, not {clip.fps:g}: {why}."
        return [Finding("rate", "error", sentence, remedy, value=rate)]
    if any(e.worth == "likely" for e in against):
        sentence = f"This is probably motion at {rate:g} frames a second, not {clip.fps:g}: {why}."
        return [Finding("rate", "warning", sentence, remedy, value=rate)]
    sentence = f"The rate may be {rate:g} frames a second, not {clip.fps:g}, but there is too little to be sure: {why}."
    return [Finding("rate", "note", sentence, "Play it at both and look.", value=rate)]


def rate_is_proved(clip: Clip) -> bool:
    """Whether anything in the clip speaks for the rate that it claims."""
    return is_humanoid(clip.skeleton) and any(0.5 < e.alpha < 2.0 for e in weigh_rate(clip))


def _whole(factor: float) -> float:
    return min(FACTORS, key=lambda f: abs(np.log(f / factor)))


def weigh_rate(clip: Clip) -> list[Evidence]:
    """All evidence there is about the rate, for and against it."""
    contacts = find_contacts(clip)
    balance = measure_balance(clip, contacts)
    found = [_flight(clip, contacts), _pendulum(balance), _support(balance, clip), _cadence(clip, contacts)]
    evidence = [e for e in found if e is not None]
    if not evidence and (last := _bobbing(clip, contacts)) is not None:
        evidence.append(last)
    return evidence


def _flight(clip: Clip, contacts: Contacts) -> Evidence | None:
    flights = [flight for flight in find_flights(clip, contacts) if flight.trusty]
    if not flights:
        return None
    frames = np.array([flight.stop - flight.start for flight in flights])
    fall = _weighted_median(np.array([flight.gravity for flight in flights]), frames)
    alpha = GRAVITY / fall
    seconds = float(np.sum(frames)) / (clip.fps * np.sqrt(alpha))  # at the rate that it claims to be
    if not 0.5 < alpha < 2.0 and abs(np.log(alpha)) > 4.0:
        return None  # a body that hardly falls is not in flight
    return Evidence(alpha, "proof" if seconds > 0.2 else "hint", f"in flight the body falls at {fall:.1f} m/s^2")


def _weighted_median(values: np.ndarray, weights: Int[Array, "n"]) -> float:
    return float(np.median(np.repeat(values, weights)))


def _pendulum(balance: Balance) -> Evidence | None:
    found = pendulum(balance)
    middle = float(np.sqrt(found.low * found.high)) if np.isfinite(found.high) else 0.0
    if found.low == 0.0 or found.high > 4.0 * found.low:
        return None  # it says too little
    if found.low < 2.0 and found.high > 0.5:
        return Evidence(1.0, "hint", "the body falls over its standing foot as it should") if found.low > 0.5 else None
    seconds = found.seconds / np.sqrt(middle)
    pace = 1.0 / np.sqrt(middle)
    reason = f"the body falls over its standing foot {pace:.1f} times as fast as gravity lets it"
    return Evidence(middle, "proof" if seconds > 2.0 else "hint", reason) if seconds > 0.5 else None


def _support(balance: Balance, clip: Clip) -> Evidence | None:
    """Only too fast a rate shows here: at too slow a one a body seems to stand still, which it may."""
    scale = body_size(clip.skeleton) / _USUAL_SIZE
    now, seconds = support_cost(balance, 1.0)
    costs = {alpha: support_cost(balance, alpha)[0] for alpha in (1 / 4, 1 / 16)}
    alpha = 1 / 16 if costs[1 / 16] < 0.5 * costs[1 / 4] and costs[1 / 4] > 0.03 * scale else 1 / 4
    reason = (
        f"the ground would have to carry it {100 * now:.0f} cm outside its feet on average, "
        f"and {100 * costs[alpha]:.0f} cm at {clip.fps * np.sqrt(alpha):g} frames a second"
    )
    if now > 0.085 * scale and costs[alpha] < 0.25 * now and seconds > 2.5:
        return Evidence(alpha, "proof", reason)
    if now > 0.045 * scale and costs[alpha] < 0.1 * now and seconds > 2.0:
        return Evidence(alpha, "hint", reason)
    return None


def walking_cadence(clip: Clip, contacts: Contacts) -> float | None:
    """Steps a minute over alternating full steps without flight between them; None for fewer than eight."""
    strikes = sorted((int(frame), foot) for foot, frames in enumerate(contacts.strikes) for frame in frames)
    at = clip.positions[:, list(contacts.joints), :2]  # (T, F, 2)
    full = _FULL_STEP * body_size(clip.skeleton)
    intervals = [
        (b - a) / clip.fps
        for (a, one), (b, other) in pairwise(strikes)
        if one != other
        and not np.any(contacts.flight[a:b])
        and np.linalg.norm(at[b, other] - at[a, other] - contacts.treadmill * (b - a) / clip.fps) > full
    ]
    return 60.0 / float(np.median(intervals)) if len(intervals) >= 8 else None


def _cadence(clip: Clip, contacts: Contacts) -> Evidence | None:
    cadence = walking_cadence(clip, contacts)
    limit = _FASTEST_WALK * float(np.sqrt(_USUAL_SIZE / body_size(clip.skeleton)))
    if cadence is None or cadence < limit:
        return None
    factor = 0.5 if cadence < 2.0 * limit else 0.25
    return Evidence(factor**2, "proof", f"it walks at {cadence:.0f} steps a minute")


def _bobbing(clip: Clip, contacts: Contacts) -> Evidence | None:
    """The vertical jerk of the centre of mass while both feet stay down for at least 2 s, less 0.4 s at the ends."""
    jerk = derivative(centre_of_mass(clip)[:, 2], clip.fps, 3, 0.2) / GRAVITY
    edge = round(0.4 * clip.fps)
    stretches = [
        jerk[a + edge : b - edge] for a, b in runs(np.all(contacts.planted, axis=1)) if b - a >= 2.0 * clip.fps
    ]
    still = np.concatenate(stretches) if stretches else np.zeros(0)
    if len(still) < 4.0 * clip.fps or (rms := float(np.sqrt(np.mean(still**2)))) < _JERK:
        return None
    factor = 0.5 if rms < 8 * _JERK else 0.25  # jerk goes with the cube of the rate
    stood = f"it stands on two flat feet for {len(still) / clip.fps:.0f} s"
    reason = f"{stood} and bobs more sharply than legs can, with a jerk of {rms:.1f} g a second"
    return Evidence(factor**2, "likely", reason)
